"""mbgrad: exact gradients of multibody simulations.

>>> import mbgrad
>>> model = mbgrad.load("five-bar")
>>> run = model.simulate(k1=250)
>>> value, gradient = model.value_and_grad("psi", k1=250)
"""

from ._batch import Batch, Table
from ._errors import (
    ConvergenceError,
    Error,
    FileError,
    InputError,
    MbgradWarning,
    Message,
    SingularError,
    UnsupportedError,
)
from ._function import Function
from ._gallery import gallery
from ._mbgrad import lib as _lib
from ._model import Formulation, Model, formulations, import_file, load, schema
from ._native import text_of as _text_of
from ._parameters import Parameters
from ._problems import (
    Check,
    ControlResult,
    GradientCheck,
    IdentifyResult,
    Linear,
    Modes,
    OptimizeResult,
    Transitions,
)
from ._records import HessianProof, Proof, StepError
from ._run import Frame, Run
from ._searches import IdentifyProblem, OptimizeProblem, SearchState, optimizers
from ._uncertainty import Uncertainty

__version__: str = _text_of(_lib.mbg_version())

__all__ = [
    "Batch",
    "Check",
    "ControlResult",
    "ConvergenceError",
    "Error",
    "FileError",
    "Formulation",
    "Frame",
    "Function",
    "GradientCheck",
    "HessianProof",
    "IdentifyProblem",
    "IdentifyResult",
    "InputError",
    "Linear",
    "MbgradWarning",
    "Message",
    "Model",
    "Modes",
    "OptimizeProblem",
    "OptimizeResult",
    "Parameters",
    "Proof",
    "Run",
    "SearchState",
    "SingularError",
    "StepError",
    "Table",
    "Transitions",
    "Uncertainty",
    "UnsupportedError",
    "__version__",
    "formulations",
    "gallery",
    "import_file",
    "load",
    "optimizers",
    "schema",
]
