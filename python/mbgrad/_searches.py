"""Searches: options and progress that they have in common, and their problems for other optimizers."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._compiled import Compiled, held
from ._mbgrad import ffi, lib
from ._native import FloatArray, RunOptions, Watch, check, context, doubles, numbers, set_option, text_of
from ._records import Design

State = Callable[[Any], Any]


def array_of(pointer: Any, n: int) -> FloatArray:
    """Copy numbers out of C."""
    if not pointer or n == 0:
        return np.zeros(0)
    return np.frombuffer(ffi.buffer(pointer, n * 8), dtype=np.float64).copy()


def list_of(get: Callable[..., Any], c: Any, count: int) -> list[Any]:
    """List what a getter hands out by index."""
    return [get(c, i) for i in range(count)]


def _kinds(structure: str) -> dict[str, str]:
    """Return the plain options of a structure, as the header lists them."""
    own = {"size", "run", "parameters", "progress", "user", "nname", "names", "nterm", "criteria", "weights"}
    own |= {"ranks", "known"}
    return {name: field.type.cname for name, field in ffi.typeof(structure).fields if name not in own}


OPTIMIZE = _kinds("mbg_optimize_options")
IDENTIFY = _kinds("mbg_identify_options")
CONTROL = _kinds("mbg_control_options")


@dataclasses.dataclass(frozen=True, slots=True)
class SearchState:
    """State of a search after an iteration, for progress functions.

    Attributes
    ----------
    iteration : int
    objective : float
        Objective, or cost of a fit.
    violation : float
        Largest violation of a limit.
    """

    iteration: int
    objective: float
    violation: float = 0.0


class Search:
    """What searches have in common: options in C, the watch, the start."""

    def __init__(
        self,
        compiled: Compiled,
        structure: str,
        kinds: dict[str, str],
        start: ArrayLike | Mapping[str, Any] | None,
        settings: dict[str, Any],
        progress: Any,
        state: State,
    ) -> None:
        own = {name: settings.pop(name) for name in list(settings) if name in kinds and name not in ("threads",)}
        if "threads" in settings and "threads" in kinds:
            own["threads"] = settings.pop("threads")
        values, options = compiled.split(settings, list(kinds))
        self.keep: list[Any] = []
        self.watch = Watch(state=self._shown(progress, state))
        self.run = RunOptions(options, self.watch)
        self.p = compiled.vector(start, values)
        c = ffi.new(f"{structure} *")
        getattr(lib, structure + "_default")(c, ffi.sizeof(structure))
        c.run = self.run.c
        c.parameters = doubles(self.p)
        for name, value in own.items():
            if value is not None:
                set_option(c, kinds, name, value, self.keep)
        self.c = c

    def check(self, ctx: Any, status: int) -> None:
        """Check the status of the search; one that was stopped has its best result, and no warnings."""
        if self.watch.c.stopped and status >= 0:
            lib.mbg_context_clear(ctx)
        else:
            check(ctx, status, self.watch)

    @staticmethod
    def _shown(progress: Any, state: State) -> State | None:
        if progress is None or progress is False:
            return None
        if progress is True:

            def line(s: SearchState) -> None:
                print(f"{s.iteration:4d}  {s.objective:.9g}  violation {s.violation:.2g}")

            progress = line
        elif not callable(progress):
            raise TypeError(f"progress: expected True or a callable, not {type(progress).__name__}")
        return lambda c: progress(state(c))


def finished(search: Search, result: Any) -> Any:
    """Return the result, or raise what stopped the search, with the best so far in `partial`."""
    if search.watch.c.stopped and search.watch.exception is not None:
        error = search.watch.exception
        error.partial = result  # type: ignore[attr-defined]
        raise error
    return result


# ---------------------------------------------------------------------- problems for other optimizers


def optimizers() -> list[str]:
    """Return the names of the optimizers for ``model.optimize(optimizer=...)``."""
    found: list[str] = []
    while name := text_of(lib.mbg_optimize_optimizer(len(found))):
        found.append(name)
    return found


class _Problem:
    """A problem in C with its unknowns."""

    def __init__(self, compiled: Compiled, search: Search, c: Any, unknowns: list[Any]) -> None:
        self._compiled = compiled
        self._search = search
        self._c = c
        self._lock = threading.Lock()
        #: names of the unknowns
        self.names: list[str] = [text_of(u.name) for u in unknowns]
        #: their start
        self.x0: FloatArray = np.array([u.start for u in unknowns])
        low, high = [u.min for u in unknowns], [u.max for u in unknowns]
        #: their lower and upper bounds
        self.bounds: tuple[FloatArray, FloatArray] = np.array(low), np.array(high)

    def _call(self, x: ArrayLike, function: Callable[..., int], *results: Any) -> None:
        """Evaluate at x, into arrays."""
        values = numbers("x", x, self.x0.shape)
        with self._lock, context() as ctx:
            self._search.watch.begin()
            places = [ffi.NULL if r is None else doubles(r) for r in results]
            status = function(ctx, self._c, doubles(values), *places)
            check(ctx, status, self._search.watch)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of '{self._compiled.name}': {', '.join(self.names)}>"


class OptimizeProblem(_Problem):
    """The problem of the section ``optimize`` of a model, for other optimizers; several threads may use it in turn.

    Attributes
    ----------
    names : list of str
        The parameters to be found.
    x0 : numpy.ndarray
        Their start.
    bounds : tuple of two numpy.ndarray
        Their lower and upper bounds.
    """

    def __init__(self, compiled: Compiled, search: Search) -> None:
        with context() as ctx:
            out = ffi.new("mbg_optimize **")
            check(ctx, lib.mbg_optimize_create(ctx, compiled.c, search.c, out), search.watch)
        c = held(out[0], lib.mbg_optimize_destroy, compiled)
        n = lib.mbg_optimize_get_summary(c).parameters
        super().__init__(compiled, search, c, list_of(lib.mbg_optimize_get_parameter, c, n))

    def evaluate(self, x: ArrayLike, *, gradient: bool = True) -> Design:
        """Simulate all load cases: objective, largest violation of a limit, and the gradient of the objective.

        The worst of several load cases has the gradient of the largest of them.

        Parameters
        ----------
        x : array
            Values of the parameters, in the order of `names`.
        gradient : bool
            Compute the gradient.
        """
        objective, violation = np.empty(1), np.empty(1)
        g = np.empty(len(self.x0)) if gradient else None
        self._call(x, lib.mbg_optimize_evaluate, objective, violation, g)
        return Design(float(objective[0]), float(violation[0]), g)

    def value(self, x: ArrayLike) -> float:
        """Return the objective."""
        return self.evaluate(x, gradient=False).objective

    def value_and_grad(self, x: ArrayLike) -> tuple[float, FloatArray]:
        """Return the objective and its gradient."""
        found = self.evaluate(x)
        assert found.gradient is not None
        return found.objective, found.gradient


class IdentifyProblem(_Problem):
    """The least-squares problem of ``model.identify()``, for other optimizers; several threads may use it in turn.

    ``scipy.optimize.least_squares(problem.residuals, problem.x0, problem.jacobian, problem.bounds)`` solves it.

    Attributes
    ----------
    names : list of str
        The parameters to be found.
    x0 : numpy.ndarray
        Their start.
    bounds : tuple of two numpy.ndarray
        Their lower and upper bounds.
    samples : int
        Number of residuals.
    """

    def __init__(self, compiled: Compiled, search: Search) -> None:
        with context() as ctx:
            out = ffi.new("mbg_identify **")
            check(ctx, lib.mbg_identify_create(ctx, compiled.c, search.c, out), search.watch)
        c = held(out[0], lib.mbg_identify_destroy, compiled)
        summary = lib.mbg_identify_get_summary(c)
        super().__init__(compiled, search, c, list_of(lib.mbg_identify_get_parameter, c, summary.parameters))
        self.samples: int = summary.samples

    def residuals(self, x: ArrayLike) -> FloatArray:
        """Return the weighted residuals at values of the parameters: model less data, over the standard deviation."""
        r = np.empty(self.samples)
        self._call(x, lib.mbg_identify_residuals, r, None)
        return r

    def jacobian(self, x: ArrayLike) -> FloatArray:
        """Return the derivatives of the residuals by direct differentiation: an array (samples, parameters)."""
        r, columns = np.empty(self.samples), np.empty((len(self.x0), self.samples))
        self._call(x, lib.mbg_identify_residuals, r, columns)
        return columns.T

    def value_and_grad(self, x: ArrayLike) -> tuple[float, FloatArray]:
        """Return the cost, half the sum of the squares of the residuals, and its gradient by the adjoint."""
        cost, g = np.empty(1), np.empty(len(self.x0))
        self._call(x, lib.mbg_identify_gradient, cost, g)
        return float(cost[0]), g
