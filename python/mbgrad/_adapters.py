"""Functions of a model for SciPy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ._errors import InputError
from ._function import Function
from ._native import FloatArray, need


class ScipyProblem(Mapping[str, Any]):
    """A criterion for ``scipy.optimize.minimize(**problem)``: function with gradient, start and bounds.

    Attributes
    ----------
    function : Function
    x0 : numpy.ndarray
        The start: values of the parameters in the model.
    bounds : scipy.optimize.Bounds
    """

    def __init__(self, function: Function) -> None:
        optimize = need("scipy.optimize", "model.scipy()")
        self.function = function
        self.x0: FloatArray = function.x0
        low, high = function.bounds
        self.bounds = optimize.Bounds(low, high)
        self._arguments = {"fun": self.fun, "x0": self.x0, "jac": True, "bounds": self.bounds}

    def fun(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Value and gradient."""
        return self.function.value_and_grad(x)

    def constraint(self, criterion: str, *, min: float = -np.inf, max: float = np.inf) -> Any:
        """Return a limit of another criterion as a NonlinearConstraint."""
        if min == -np.inf and max == np.inf:
            raise InputError(f"the constraint of '{criterion}' has no limit: give min, max or both")
        f = self.function
        other = f.model.function(
            criterion,
            wrt=f._wrt,
            method=f._method_name,
            parameters=dict(f.parameters()),
            **f._options,
        )
        return need("scipy.optimize", "a constraint").NonlinearConstraint(other, min, max, jac=other.grad)

    def minimize(self, **options: Any) -> Any:
        """Call ``scipy.optimize.minimize``; options replace those of the problem."""
        return need("scipy.optimize", "minimize()").minimize(**{**self._arguments, **options})

    def __getitem__(self, name: str) -> Any:
        return self._arguments[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arguments)

    def __len__(self) -> int:
        return len(self._arguments)

    def __repr__(self) -> str:
        return f"<ScipyProblem {self.function!r}>"
