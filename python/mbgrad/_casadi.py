"""Functions of a model for CasADi."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._function import Function
from ._native import need


def casadi_callback(function: Function, name: str) -> Any:
    """Return a CasADi Callback with one argument, the vector of parameters, and its Jacobian."""
    casadi = need("casadi", "model.casadi()")
    rows = 1 if function.shape == () else function.shape[0]
    columns = function.size

    class Jacobian(casadi.Callback):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self, label: str, options: dict[str, Any]) -> None:
            casadi.Callback.__init__(self)
            self.construct(label, options)

        def get_n_in(self) -> int:
            return 2  # the argument, and the value there

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, i: int) -> Any:
            return casadi.Sparsity.dense(columns, 1) if i == 0 else casadi.Sparsity(rows, 1)

        def get_sparsity_out(self, i: int) -> Any:
            return casadi.Sparsity.dense(rows, columns)

        def eval(self, arguments: Any) -> Any:
            x = np.asarray(arguments[0], dtype=np.float64).reshape(-1)
            return [casadi.DM(function.jacobian(x).reshape(rows, columns))]

    class MbgradCallback(casadi.Callback):  # type: ignore[misc, name-defined, unused-ignore]
        """Criteria of a simulation as a function of parameters."""

        def __init__(self) -> None:
            casadi.Callback.__init__(self)
            self._kept: list[Any] = []
            self.construct(name, {})

        def get_n_in(self) -> int:
            return 1

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, i: int) -> Any:
            return casadi.Sparsity.dense(columns, 1)

        def get_sparsity_out(self, i: int) -> Any:
            return casadi.Sparsity.dense(rows, 1)

        def eval(self, arguments: Any) -> Any:
            x = np.asarray(arguments[0], dtype=np.float64).reshape(-1)
            return [casadi.DM(np.atleast_1d(function(x)))]

        def has_jacobian(self) -> bool:
            return True

        def get_jacobian(self, label: str, inputs: Any, outputs: Any, options: Any) -> Any:
            jacobian = Jacobian(label, options)
            self._kept.append(jacobian)
            return jacobian

    return MbgradCallback()
