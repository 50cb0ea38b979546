"""Criteria and signals as functions of the parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ._compiled import Compiled, NativeRun, select
from ._errors import InputError
from ._mbgrad import ffi, lib
from ._native import (
    FloatArray,
    RunOptions,
    Watch,
    check,
    did_you_mean,
    doubles,
    give_context,
    method_index,
    numbers,
    real_array,
    take_context,
    text_of,
)
from ._parallel import parallel
from ._parameters import Parameters

if TYPE_CHECKING:
    from ._model import Model


class _Evaluator:
    """A run that is used again and again, with what it computed last."""

    __slots__ = ("at", "gradient", "jacobian", "output", "psi", "run", "started", "watch")

    def __init__(self) -> None:
        self.run: NativeRun | None = None
        self.watch = Watch()
        self.started = False
        self.at: bytes | None = None
        self.output: FloatArray | None = None
        self.jacobian: FloatArray | None = None

    def _prepare(self, f: Function, ctx: Any) -> NativeRun:
        if self.run is None:
            options = RunOptions(f._options, self.watch, signals=f.signals is not None)
            self.run = NativeRun(f._compiled, options, ctx)
            if f.signals is None:
                select(ctx, self.run, f._rows)
            nc, n = len(f._compiled.criteria), f._compiled.layout.count
            self.psi, self.gradient = np.empty(nc), np.empty((nc, n))
        return self.run

    def _simulate(self, ctx: Any, run: NativeRun, p: FloatArray) -> None:
        check(ctx, lib.mbg_py_evaluate(ctx, run.c, doubles(p), 0, ffi.NULL, ffi.NULL), self.watch)

    def compute(self, f: Function, p: FloatArray, derivative: bool) -> None:
        """Bring output, and Jacobian if wanted, up to date at p."""
        key = p.tobytes()
        if key == self.at and (self.jacobian is not None or not derivative):
            return
        ctx = take_context()
        try:
            self.watch.begin()
            run = self._prepare(f, ctx)
            again = key == self.at
            if not again:
                self.at = self.output = self.jacobian = None
            if not self.started:
                if not np.array_equal(p, f._base):
                    self._simulate(ctx, run, f._base)
                self.started = True
            try:
                if f.signals is None:
                    self._criteria(f, ctx, run, None if again else p, derivative)
                else:
                    self._signals(f, ctx, run, None if again else p, derivative)
            except BaseException:
                self.at = None
                raise
            self.at = key
        finally:
            give_context(ctx)

    def _criteria(self, f: Function, ctx: Any, run: NativeRun, p: FloatArray | None, derivative: bool) -> None:
        status = lib.mbg_py_evaluate(
            ctx,
            run.c,
            ffi.NULL if p is None else ffi.from_buffer("double[]", p),
            f._method,
            ffi.from_buffer("double[]", self.psi),
            ffi.from_buffer("double[]", self.gradient) if derivative else ffi.NULL,
        )
        check(ctx, status, self.watch)
        self.output = self.psi[f._pick]
        if derivative:
            self.jacobian = self.gradient[f._pick] if f._index is None else self.gradient[f._pick][..., f._index]
            if f._index is None:
                self.jacobian = self.jacobian.copy()

    def _signals(self, f: Function, ctx: Any, run: NativeRun, p: FloatArray | None, derivative: bool) -> None:
        if p is not None:
            self._simulate(ctx, run, p)
        columns = f._columns_of(run)
        nodes, width = lib.mbg_run_node_count(run.c), lib.mbg_run_value_width(run.c)
        if p is not None:
            buffer = ffi.buffer(lib.mbg_run_value_array(run.c), nodes * width * 8)
            self.output = np.frombuffer(buffer, dtype=np.float64).reshape(nodes, width)[:, columns]
            times = np.frombuffer(ffi.buffer(lib.mbg_run_time_array(run.c), nodes * 8), dtype=np.float64)
            f._remember_times(times)
        if derivative:
            kept, n = lib.mbg_run_kept_count(run.c), f._compiled.layout.count
            dy = np.empty((nodes, kept, n))
            check(ctx, lib.mbg_py_history(ctx, run.c, doubles(dy), kept * n), self.watch)
            dy = dy[:, columns]
            self.jacobian = dy if f._index is None else dy[..., f._index]

    def pull(self, f: Function, p: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the gradient of the sum of weights times the values of a function of signals at p."""
        self.compute(f, p, False)
        ctx = take_context()
        try:
            self.watch.begin()
            run = self.run
            assert run is not None
            w = np.zeros((lib.mbg_run_node_count(run.c), lib.mbg_run_kept_count(run.c)))
            w[:, f._columns_of(run)] = weights
            g = np.empty(f._compiled.layout.count)
            check(ctx, lib.mbg_run_vjp(ctx, run.c, f._method, 1, doubles(w), doubles(g)), self.watch)
        finally:
            give_context(ctx)
        return g if f._index is None else g[f._index]


class Function:
    """Criteria or signals as a function of a vector of parameters; made by ``model.function``.

    ``f(x)`` is the value, ``f.grad(x)`` or ``f.jacobian(x)`` the derivative, ``f.value_and_grad(x)`` both. An argument
    may have leading dimensions, a batch, which is computed in threads. Several threads may use one function.

    Attributes
    ----------
    model : Model
    criteria : list of str
        Names of the criteria; empty for signals.
    signals : list of str or None
        Names of the signals.
    names : list of str
        Name of each argument.
    x0 : numpy.ndarray
        Values of the arguments at which the function was made.
    bounds : tuple of two numpy.ndarray
        Bounds of the arguments in the model, infinite where it has none.
    """

    def __init__(
        self,
        model: Model,
        criteria: str | Sequence[str] | None,
        signals: str | Sequence[str] | None,
        wrt: list[str] | None,
        base: FloatArray,
        options: dict[str, Any],
        method: str,
        workers: int | None,
    ) -> None:
        self.model = model
        self._compiled: Compiled = model._compile()
        self._base = base
        self._options = options
        self._method = method_index(method)
        self._method_name = method
        self.workers = workers
        self._times: FloatArray | None = None
        self._free: list[_Evaluator] = []
        self.signals: list[str] | None = None
        self._scalar = False
        self._wrt = wrt
        if signals is not None:
            if criteria is not None:
                raise InputError("give criteria or signals, not both")
            self._scalar = isinstance(signals, str)
            self.signals = [signals] if isinstance(signals, str) else list(signals)
            for name in self.signals:
                if name not in self._compiled.signals:
                    raise InputError(f"no signal '{name}'{did_you_mean(str(name), self._compiled.signals)}")
            self._rows: list[int] = []
        else:
            self._rows = self._compiled.criteria_indices(criteria)
            self._scalar = isinstance(criteria, str) or (criteria is None and len(self._rows) == 1)
        self.criteria = [self._compiled.criteria[k] for k in self._rows]
        self._pick: Any = self._rows[0] if self._scalar and self._rows else self._rows
        if wrt is None:
            self._index, self._layout = None, self._compiled.layout
        else:
            self._index, self._layout = self._compiled.layout.subset(wrt)
        self.names = list(self._layout.entries)
        pick = slice(None) if self._index is None else self._index
        self.x0: FloatArray = base[pick].copy()
        low, high = self._compiled.bounds()
        self.bounds: tuple[FloatArray, FloatArray] = (low[pick], high[pick])

    def __getstate__(self) -> dict[str, Any]:
        criteria: Any = self.criteria[0] if self._scalar and self.criteria else self.criteria or None
        signals: Any = self.signals[0] if self._scalar and self.signals else self.signals
        return {
            "arguments": (
                self.model, criteria, signals, self._wrt, self._base, self._options, self._method_name, self.workers,
            )
        }  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*state["arguments"])  # type: ignore[misc]

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:8]) + (", ..." if len(self.names) > 8 else "")
        return f"<Function {', '.join(self.criteria or self.signals or [])} of ({shown})>"

    # ------------------------------------------------------------------ shapes

    @property
    def size(self) -> int:
        """Number of arguments."""
        return len(self.names)

    @property
    def times(self) -> FloatArray:
        """Times of the nodes, for a function of signals: the rows of its values."""
        if self._times is None:
            if self.signals is None:
                raise InputError("only a function of signals has times")
            self(self.x0)
        assert self._times is not None
        return self._times

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a value: () for one criterion, (criteria,), (nodes,) or (nodes, signals)."""
        if self.signals is None:
            return () if self._scalar else (len(self.criteria),)
        return (len(self.times),) if self._scalar else (len(self.times), len(self.signals))

    def _remember_times(self, t: FloatArray) -> None:
        if self._times is None:
            self._times = t.copy()
        elif len(self._times) != len(t):
            raise InputError(
                f"the run has {len(t)} nodes, not {len(self._times)}: signals as functions of the parameters need a"
                " run whose nodes do not depend on them"
            )

    def _columns_of(self, run: NativeRun) -> Any:
        kept: dict[str, int] = {}
        for k in range(lib.mbg_run_kept_count(run.c)):
            c = lib.mbg_model_signal_name(self._compiled.c, lib.mbg_run_kept_signal(run.c, k))
            if c:
                kept[text_of(c)] = k
        assert self.signals is not None
        columns = [kept[name] for name in self.signals]
        return columns[0] if self._scalar else columns

    # ------------------------------------------------------------------ evaluation

    def parameters(self, x: ArrayLike | None = None) -> Parameters:
        """Return all parameters of the model, with x in the places of the arguments."""
        p = self._base.copy() if x is None else self._vector(numbers("x", x, (self.size,)))
        return Parameters(self._compiled.layout, p)

    def _vector(self, x: FloatArray) -> FloatArray:
        if self._index is None:
            return x
        p = self._base.copy()
        p[self._index] = x
        return p

    def _arguments(self, x: ArrayLike | Mapping[str, Any]) -> FloatArray:
        if isinstance(x, Mapping) and not isinstance(x, Parameters):
            p = self._compiled.vector(None, x, base=self._base)
            return p if self._index is None else p[self._index]
        out = real_array("x", x)
        if np.ndim(x) == 0 or out.shape[-1] != self.size:
            names = ", ".join(self.names[:6]) + (", ..." if self.size > 6 else "")
            raise ValueError(f"x: expected {self.size} numbers ({names}), not an array of shape {np.shape(x)}")
        if not np.isfinite(out).all():
            at = self.names[int(np.argwhere(~np.isfinite(out))[0][-1])]
            raise ValueError(f"x: the value of '{at}' is not a finite number")
        return out

    @contextmanager
    def _lend(self, watch: Watch) -> Iterator[_Evaluator]:
        try:
            evaluator = self._free.pop()
        except IndexError:
            evaluator = _Evaluator()
        watch.inner = evaluator.watch
        try:
            yield evaluator
        finally:
            self._free.append(evaluator)

    def _compute(self, x: FloatArray, derivative: bool, watch: Watch | None = None) -> tuple[Any, Any]:
        try:
            evaluator = self._free.pop()
        except IndexError:
            evaluator = _Evaluator()
        if watch is not None:
            watch.inner = evaluator.watch
        try:
            evaluator.compute(self, self._vector(x), derivative)
            return evaluator.output, evaluator.jacobian
        finally:
            self._free.append(evaluator)

    def _map(self, x: FloatArray, derivative: bool) -> tuple[FloatArray, FloatArray | None]:
        points = x.reshape(-1, self.size)
        y = np.empty((len(points), *self.shape))
        j = np.empty((len(points), *self.shape, self.size)) if derivative else None

        def work(i: int, watch: Watch) -> None:
            value, jacobian = self._compute(points[i], derivative, watch)
            y[i] = value
            if j is not None:
                j[i] = jacobian

        parallel(len(points), self.workers, work)
        lead = x.shape[:-1]
        return y.reshape(lead + self.shape), None if j is None else j.reshape((*lead, *self.shape, self.size))

    def __call__(self, x: ArrayLike | Mapping[str, Any]) -> Any:
        """Return the value at x: a number, or an array of the shape of the function."""
        x = self._arguments(x)
        if x.ndim > 1:
            return self._map(x, False)[0]
        y, _ = self._compute(x, False)
        return float(y) if self.signals is None and self._scalar else y.copy()

    def value_and_jacobian(self, x: ArrayLike | Mapping[str, Any]) -> tuple[Any, FloatArray]:
        """Return value and derivative; the derivative has one more dimension, that of the arguments."""
        x = self._arguments(x)
        if x.ndim > 1:
            y, j = self._map(x, True)
            assert j is not None
            return y, j
        y, j = self._compute(x, True)
        assert j is not None
        return (float(y) if self.signals is None and self._scalar else y.copy()), j.copy()

    def vjp(self, x: ArrayLike | Mapping[str, Any], weights: ArrayLike) -> FloatArray:
        """Return the gradient at x of the sum of weights times values; weights have the shape of the value.

        For signals by one backward pass (the adjoint), for any number of arguments.
        """
        x = self._arguments(x)
        w = numbers("weights", weights, (*x.shape[:-1], *self.shape))
        if self.signals is None:
            j = self.jacobian(x)
            inner = tuple(range(x.ndim - 1, j.ndim - 1))
            out: FloatArray = (w[..., None] * j).sum(axis=inner) if inner else w[..., None] * j
            return out
        points, rows = x.reshape(-1, self.size), w.reshape(-1, *self.shape)
        g = np.empty_like(points)

        def work(i: int, watch: Watch) -> None:
            with self._lend(watch) as evaluator:
                g[i] = evaluator.pull(self, self._vector(points[i]), rows[i])

        parallel(len(points), self.workers, work)
        return g.reshape(x.shape)

    def jacobian(self, x: ArrayLike | Mapping[str, Any]) -> FloatArray:
        """Return the derivative at x."""
        return self.value_and_jacobian(x)[1]

    def value_and_grad(self, x: ArrayLike | Mapping[str, Any]) -> tuple[float, FloatArray]:
        """Return value and gradient of one criterion."""
        if self.signals is not None or not self._scalar:
            raise InputError("a gradient belongs to one criterion; of several numbers take value_and_jacobian")
        return self.value_and_jacobian(x)

    def grad(self, x: ArrayLike | Mapping[str, Any]) -> FloatArray:
        """Return the gradient of one criterion."""
        return self.value_and_grad(x)[1]
