"""Results of a simulation."""

from __future__ import annotations

import functools
import pathlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ._compiled import Compiled, NativeRun, evaluate_run, select
from ._errors import InputError
from ._mbgrad import ffi, lib
from ._native import (
    METHODS,
    BoolArray,
    FloatArray,
    RunOptions,
    Watch,
    check,
    context,
    did_you_mean,
    doubles,
    method_index,
    need,
    number,
    numbers,
    take_bytes,
    take_text,
    text_of,
)
from ._parameters import Parameters
from ._problems import Linear, Transitions, linear_model, transitions_of
from ._records import Attribute, HessianProof, ModalMotion, StepError, Work, record
from ._uncertainty import Uncertainty, scatter_of
from ._view import Page

if TYPE_CHECKING:
    from ._model import Model


class _Memory:
    """Numbers inside a C run, as an array that keeps the run alive."""

    def __init__(self, owner: NativeRun, pointer: Any, shape: tuple[int, ...]) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "typestr": "<f8",
            "shape": shape,
            "data": (int(ffi.cast("uintptr_t", pointer)), True),
        }


class Frame:
    """Motion of the frame of a body, at every node of a run.

    Attributes
    ----------
    position : numpy.ndarray, (nodes, 3)
        Origin in world axes.
    rotation : numpy.ndarray, (nodes, 3, 3)
        Rotation matrices, from axes of the body to axes of the world.
    velocity, angular_velocity : numpy.ndarray, (nodes, 3)
        In axes of the body.
    """

    __slots__ = ("angular_velocity", "name", "position", "rotation", "velocity")

    def __init__(self, name: str, frame: FloatArray, twist: FloatArray) -> None:
        self.name = name
        self.position = frame[:, 9:]
        self.rotation = np.lib.stride_tricks.as_strided(
            frame, (len(frame), 3, 3), (frame.strides[0], 24, 8), writeable=False
        )
        self.velocity = twist[:, :3]
        self.angular_velocity = twist[:, 3:]

    @property
    def matrix(self) -> FloatArray:
        """Homogeneous matrices (nodes, 4, 4); a copy."""
        out = np.zeros((len(self.position), 4, 4))
        out[:, :3, :3], out[:, :3, 3], out[:, 3, 3] = self.rotation, self.position, 1
        return out

    def __repr__(self) -> str:
        return f"<Frame of '{self.name}' at {len(self.position)} nodes>"


class Frames(Mapping[str, Frame]):
    """Frames of all bodies by name; nodes of a beam are bodies (``"rod.3"``)."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._index = {name: i for i, name in enumerate(run._compiled.bodies)}

    def __getitem__(self, name: str) -> Frame:
        run = self._run
        index = self._index.get(name)
        if index is None:
            raise KeyError(f"no body '{name}'{did_you_mean(str(name), list(self._index))}")
        if run._columns is None:
            raise InputError("the run keeps no frames: simulate with poses=True")
        at, to = run._columns[0][index], run._columns[1][index]
        return Frame(name, run._values[:, at : at + 12], run._values[:, to : to + 6])

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return f"<frames of {', '.join(self._index)}>" if len(self) <= 12 else f"<frames of {len(self)} bodies>"


class Run(Mapping[str, FloatArray]):
    """A simulation: signals by name, frames, criteria, and derivatives of all of them.

    ``run["phi"]`` are the values of a signal at the times ``run.t``. Arrays are read-only views of the memory of the
    run, which lives as long as one of them does. A run can be pickled; its derivatives are then computed from a
    simulation that is repeated.

    Attributes
    ----------
    formulation : str
        Key of the formulation.
    start, end : float
        Of the run [s].
    controlled : bool
        The steps are under error control.
    step : float
        Length of the steps [s], also of those that ``accuracy`` found; NAN under error control.
    relative_tolerance, absolute_tolerance : float
        Of steps under error control; 0 for others.
    adjoint_method : str
        The exact adjoint of the formulation: ``"adjoint"``, or ``"continuous"`` where it solves a differential
        equation.
    """

    _native: NativeRun | None
    formulation: str
    start: float
    end: float
    controlled: bool
    step: float
    relative_tolerance: float
    absolute_tolerance: float
    adjoint_method: str

    def __init__(
        self,
        model: Model,
        p: FloatArray,
        settings: dict[str, Any],
        poses: bool,
        watch: Watch,
        restart: Any = None,
        fresh: bool = False,
    ) -> None:
        self._model = model
        self._compiled: Compiled = model._compile()
        self._p = p
        self._settings = settings
        self._poses = poses
        self._restart = restart
        self._fresh = bool(fresh)
        self._lock = threading.RLock()
        self._estimated: Any = None  # what the last estimate of errors was made for
        self._simulate(watch)

    def _simulate(self, watch: Watch) -> None:
        with context() as ctx:
            options = RunOptions(self._settings, watch, self._poses, signals=True)
            native = NativeRun(self._compiled, options, ctx)
            check(ctx, lib.mbg_run_set_parameters(ctx, native.c, doubles(self._p)))
            if self._restart is not None:
                check(ctx, lib.mbg_run_read_state(ctx, native.c, self._restart))
                if self._fresh:
                    lib.mbg_run_forget_stepper(native.c)
            check(ctx, lib.mbg_run_simulate(ctx, native.c), watch)
            psi = np.empty(len(self._compiled.criteria))
            if len(psi):
                check(ctx, lib.mbg_run_criteria(ctx, native.c, doubles(psi)))
            if lib.mbg_run_partial(native.c):
                raise watch.reason()
        watch.owner.progress = None
        self._native = native
        self._psi = psi
        c = native.c
        self._settle(c)
        n, width = lib.mbg_run_node_count(c), lib.mbg_run_value_width(c)
        self._t: FloatArray = np.asarray(_Memory(native, lib.mbg_run_time_array(c), (n,)))
        values = lib.mbg_run_value_array(c)
        if width > 0:
            self._values: FloatArray = np.asarray(_Memory(native, values, (n, width)))
        else:
            self._values = np.zeros((n, 0))
        kept: dict[str, int] = {}
        for k in range(lib.mbg_run_kept_count(c)):
            name = lib.mbg_model_signal_name(self._compiled.c, lib.mbg_run_kept_signal(c, k))
            if name:
                kept[text_of(name)] = k
        self._kept = {name: kept[name] for name in self._compiled.signals if name in kept}
        self._columns: tuple[list[int], list[int]] | None = None
        if self._poses:
            bodies = range(len(self._compiled.bodies))
            self._columns = (
                [lib.mbg_run_frame_column(c, b) for b in bodies],
                [lib.mbg_run_twist_column(c, b) for b in bodies],
            )

    def _settle(self, c: Any) -> None:
        """Take over what was decided about the steps."""
        self.formulation = text_of(lib.mbg_run_formulation(c))
        self.start, self.end = lib.mbg_run_start(c), lib.mbg_run_end(c)
        self.controlled = lib.mbg_run_controlled(c)
        self.step = float("nan") if self.controlled else lib.mbg_run_step(c)
        self.relative_tolerance = lib.mbg_run_relative_tolerance(c)
        self.absolute_tolerance = lib.mbg_run_absolute_tolerance(c)
        self.adjoint_method = list(METHODS)[lib.mbg_run_adjoint_method(c)]

    # ------------------------------------------------------------------ pickling

    def __getstate__(self) -> dict[str, Any]:
        names = ["_model", "_p", "_settings", "_poses", "_restart", "_psi", "_kept", "_columns", "formulation"]
        names += ["start", "end", "controlled", "step", "relative_tolerance", "absolute_tolerance", "adjoint_method"]
        state = {name: getattr(self, name) for name in names}
        state["_t"], state["_values"] = np.array(self._t), np.array(self._values)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._t.flags.writeable = self._values.flags.writeable = False
        self._compiled = self._model._compile()
        self._lock = threading.RLock()
        self._native = self._estimated = None

    def _live(self) -> NativeRun:
        if self._native is None:  # unpickled: simulate again, with the same numbers
            values, t = self._values, self._t
            self._simulate(Watch())
            self._values, self._t = values, t
        assert self._native is not None
        return self._native

    # ------------------------------------------------------------------ results

    @property
    def model(self) -> Model:
        """The model."""
        return self._model

    @property
    def t(self) -> FloatArray:
        """Times of the nodes [s]."""
        return self._t

    @property
    def parameters(self) -> Parameters:
        """Values of the parameters."""
        return Parameters(self._compiled.layout, self._p)

    @property
    def criteria(self) -> dict[str, float]:
        """Values of the criteria by name."""
        return dict(zip(self._compiled.criteria, self._psi.tolist(), strict=True))

    def __getitem__(self, signal: str) -> FloatArray:
        column = self._kept.get(signal)
        if column is None:
            raise KeyError(f"no signal '{signal}'{did_you_mean(str(signal), list(self._kept))}")
        return self._values[:, column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    @functools.cached_property
    def frames(self) -> Frames:
        """Frames of the bodies: ``run.frames["rod"].position``."""
        return Frames(self)

    @functools.cached_property
    def modal(self) -> dict[str, ModalMotion]:
        """Modal coordinates and their rates by body: ``run.modal["arm"].coordinates``."""
        owners = self._compiled.modal
        if owners and self._columns is None:
            raise InputError("the run keeps no modal coordinates: simulate with poses=True")
        eta, rates = np.zeros((2, len(self.t), len(owners)))
        if owners:
            with self._lock, context() as ctx:
                check(ctx, lib.mbg_run_modal(self._live().c, doubles(eta), doubles(rates)))
        eta.flags.writeable = rates.flags.writeable = False
        columns = {body: [i for i, owner in enumerate(owners) if owner == body] for body in dict.fromkeys(owners)}
        return {body: ModalMotion(body, eta[:, k], rates[:, k]) for body, k in columns.items()}

    @functools.cached_property
    def inner(self) -> BoolArray:
        """True for nodes inside a fixed step, which serve the integrals of criteria: an array (nodes)."""
        with self._lock:
            c = self._live().c
            return np.array([lib.mbg_run_node_inner(c, i) for i in range(len(self.t))], dtype=np.bool_)

    @property
    def events(self) -> list[dict[str, Any]]:
        """Events in their order: dicts of name, time, rate of the guard, grazing measure, impulse, jump, node."""
        with self._lock:
            c = self._live().c
            found = []
            for i in range(lib.mbg_run_event_count(c)):
                e = ffi.new("mbg_run_event *")
                lib.mbg_run_event_at(c, i, e)
                values = {key: getattr(e, key) for key in ("time", "rate", "grazing", "impulse", "jump", "node")}
                found.append({"name": text_of(e.name), **values})
            return found

    @property
    def work(self) -> Work:
        """Steps, iterations, seconds."""
        return record(Work, lib.mbg_run_get_work(self._live().c))

    def __repr__(self) -> str:
        values = ", ".join(f"{k}={v:.6g}" for k, v in list(self.criteria.items())[:4])
        more = f", {values}" if values else ""
        end = f"t = {self.t[0]:g} ... {self.t[-1]:g} s" if len(self.t) else "no nodes"
        return f"<Run of '{self._compiled.name}' by {self.formulation}: {len(self.t)} nodes, {end}{more}>"

    # ------------------------------------------------------------------ derivatives

    def gradient(self, criterion: str | None = None, *, method: str = "auto") -> Parameters:
        """Differentiate a criterion by all parameters.

        Parameters
        ----------
        criterion : str, optional
            Name of the criterion; the only one of the model when left out.
        method : str
            ``"auto"``, ``"direct"``, ``"adjoint"``, ``"continuous"``, ``"continuous-paper"``.

        Returns
        -------
        gradient : Parameters
            Derivatives by name; ``numpy.asarray`` gives the vector.
        """
        k = self._compiled.criterion(criterion)
        _, g = self._evaluate([k], method)
        return Parameters(self._compiled.layout, g[k].copy())

    def jacobian(self, criteria: Sequence[str] | None = None, *, method: str = "auto") -> FloatArray:
        """Differentiate several criteria (all of them when left out): an array (criteria, parameters)."""
        index = self._compiled.criteria_indices(criteria)
        _, g = self._evaluate(index, method)
        return g[index]

    def hessian(self, criterion: str | None = None, *, weights: Mapping[str, float] | None = None) -> FloatArray:
        """Differentiate a criterion twice by all parameters.

        Exact for the steps made, by the discrete adjoint in complex numbers: about three gradients a parameter.

        Parameters
        ----------
        criterion : str, optional
            Name of the criterion; the only one of the model when left out.
        weights : mapping from names of criteria to numbers
            In its place: the sum of weights times criteria, such as a Lagrangian.

        Returns
        -------
        array (parameters, parameters), symmetric
        """
        w = self._criterion_weights(criterion, weights)
        n = self._compiled.layout.count
        H = np.zeros((n, n))
        with self._lock, context() as ctx:
            run = self._live()
            run.options.watch.begin()
            if H.size:
                check(ctx, lib.mbg_run_hessian(ctx, run.c, doubles(w), doubles(H), ffi.NULL), run.options.watch)
        return H

    def hessian_vector(
        self,
        direction: ArrayLike | Mapping[str, Any],
        criterion: str | None = None,
        *,
        weights: Mapping[str, float] | None = None,
    ) -> Parameters:
        """Differentiate the gradient of a criterion along a direction of the parameters: about three gradients.

        Parameters
        ----------
        direction : array or mapping
            Rates of all parameters, or of some by name.
        criterion, weights
            As in :meth:`hessian`.

        Returns
        -------
        product : Parameters
            Of the Hessian and the direction.
        """
        w = self._criterion_weights(criterion, weights)
        d = self._compiled.vector(direction, base=np.zeros_like(self._p))
        product = np.zeros_like(self._p)
        with self._lock, context() as ctx:
            run = self._live()
            run.options.watch.begin()
            if product.size:
                done = lib.mbg_run_hessian_vector(ctx, run.c, doubles(w), doubles(d), ffi.NULL, doubles(product))
                check(ctx, done, run.options.watch)
        return Parameters(self._compiled.layout, product)

    def prove_hessian(self, criterion: str | None = None) -> HessianProof:
        """Prove the second derivatives of a criterion (the only one of the model when left out)."""
        k = self._compiled.criterion(criterion)
        proof = ffi.new("mbg_hessian_proof *")
        with self._lock, context() as ctx:
            run = self._live()
            run.options.watch.begin()
            check(ctx, lib.mbg_run_prove_hessian(ctx, run.c, k, proof), run.options.watch)
        return record(HessianProof, proof)

    def uncertainty(
        self,
        deviations: Mapping[str, float] | None = None,
        criterion: str | None = None,
        *,
        uniform: Sequence[str] = (),
        correlation: ArrayLike | None = None,
    ) -> Uncertainty:
        """Tell how a criterion scatters when parameters do, by exact first and second derivatives.

        Parameters
        ----------
        deviations : mapping from names of parameters to standard deviations
            Those of the model file when left out.
        criterion : str, optional
            Name of the criterion; the only one of the model when left out.
        uniform : names
            Parameters that are uniform, not normal.
        correlation : array (parameters, parameters), optional
            Of the parameters in ``deviations``, in their order.
        """
        scatter, index = scatter_of(self._compiled, deviations, uniform, correlation)
        name = self._compiled.criteria[self._compiled.criterion(criterion)]
        gradient = self.gradient(name).array[index]
        columns = np.eye(self._compiled.layout.count)[index]
        H = np.array([self.hessian_vector(d, name).array[index] for d in columns])
        return scatter.moments(self.criteria[name], gradient, (H + H.T) / 2)

    def _criterion_weights(self, criterion: str | None, weights: Mapping[str, float] | None) -> FloatArray:
        """Weights of all criteria: 1 for one of them, or those given by name."""
        w = np.zeros(len(self._compiled.criteria))
        if weights is None:
            w[self._compiled.criterion(criterion)] = 1
            return w
        if criterion is not None:
            raise ValueError("give a criterion or weights of criteria, not both")
        for name, value in weights.items():
            w[self._compiled.criterion(name)] = value
        return w

    def _evaluate(self, index: list[int], method: str) -> tuple[FloatArray, FloatArray]:
        number = method_index(method)
        with self._lock, context() as ctx:
            run = self._live()
            run.options.watch.begin()
            check(ctx, lib.mbg_run_select(ctx, run.c, 0, ffi.NULL))
            psi, g = evaluate_run(ctx, run, None, index, number)
        assert g is not None
        return psi, g

    def sensitivity(self, signal: str) -> FloatArray:
        """Differentiate a signal at every node by every parameter: an array (nodes, parameters).

        By direct differentiation: the cost grows with the number of parameters.
        """
        self[signal]  # the name is right
        dy = self._history()
        return dy[:, self._kept[signal], :]

    def frame_sensitivity(self, body: str) -> FloatArray:
        """Differentiate the frame of a body at every node: an array (nodes, 6, parameters).

        Three displacements and three rotations, in axes of the body: the frame H becomes H exp(dx dp) to first order.
        """
        self.frames[body]  # the name is right, and the run keeps frames
        with self._lock, context() as ctx:
            run = self._live()
            run.options.watch.begin()
            n = self._compiled.layout.count
            rows = 6 * len(self._compiled.bodies) + len(self._compiled.modal)
            dx = np.empty((len(self.t), rows, n))
            if dx.size:
                check(ctx, lib.mbg_py_pose_history(ctx, run.c, doubles(dx), rows * n), run.options.watch)
        first = 6 * list(self._compiled.bodies).index(body)
        return dx[:, first : first + 6, :]

    def _history(self) -> FloatArray:
        with self._lock, context() as ctx:
            run = self._live()
            run.options.watch.begin()
            kept, n = lib.mbg_run_kept_count(run.c), self._compiled.layout.count
            dy = np.empty((len(self.t), kept, n))
            if dy.size:
                check(ctx, lib.mbg_py_history(ctx, run.c, doubles(dy), kept * n), run.options.watch)
        return dy

    def vjp(
        self,
        weights: Mapping[str, ArrayLike],
        *,
        method: str = "auto",
        frames: Mapping[str, ArrayLike] | None = None,
        initial: bool = False,
    ) -> Any:
        """Pull weights of signals back to the parameters.

        Parameters
        ----------
        weights : mapping from names of signals to arrays (nodes)
            Derivative of a loss by the values of each signal: ``{"phi": 2 * (run["phi"] - wanted)}``.
        method : str
            As in :meth:`gradient`; the adjoint makes one backward pass for any number of parameters.
        frames : mapping from names of bodies to arrays (nodes, 4, 4)
            Derivative of the loss by the entries of ``run.frames[body].matrix``.
        initial : bool
            Also differentiate by changes of the start.

        Returns
        -------
        gradient : Parameters
            Derivative of the loss by the parameters: the sum over signals and nodes of weight times dy/dp.
        start : dict from names to numbers, with ``initial``
            Derivative by changes of the start: motions of the bodies along and about their axes (``"rod.x"``,
            ``"rod.turn-z"``), of their rates (``"rod.x.rate"``), modal coordinates and states. Constraints hold: of a
            change that they forbid, the nearest possible one counts.
        """
        number = method_index(method)
        if (initial or frames) and method not in ("auto", "adjoint", "continuous"):
            raise InputError(f"frames and initial need the adjoint, not method '{method}'")
        with self._lock, context() as ctx:
            run = self._live()
            run.options.watch.begin()
            w = self._weights(run.c, weights)
            g = np.zeros(self._compiled.layout.count)
            start = np.zeros(lib.mbg_run_start_count(run.c))
            if initial or frames:
                f = self._frame_weights(frames or {})
                seeds = ffi.new("mbg_cotangent *")
                # names keep the arrays alive
                signals, poses = doubles(w), doubles(f) if frames else ffi.NULL
                seeds.signals, seeds.frames = signals, poses
                by_start = doubles(start) if initial else ffi.NULL
                status = lib.mbg_run_vjp_start(ctx, run.c, 1, seeds, doubles(g), by_start, ffi.NULL)
                check(ctx, status, run.options.watch)
            elif g.size:
                status = lib.mbg_run_vjp(ctx, run.c, number, 1, doubles(w), doubles(g))
                check(ctx, status, run.options.watch)
            names = self._start_names(run.c) if initial else []
        gradient = Parameters(self._compiled.layout, g)
        return (gradient, dict(zip(names, start.tolist(), strict=True))) if initial else gradient

    def _weights(self, c: Any, weights: Mapping[str, ArrayLike]) -> FloatArray:
        w = np.zeros((len(self.t), lib.mbg_run_kept_count(c)))
        for name, value in weights.items():
            self[name]
            w[:, self._kept[name]] = numbers(f"weights of '{name}'", value, self.t.shape)
        return w

    def _frame_weights(self, frames: Mapping[str, ArrayLike]) -> FloatArray:
        bodies = self._compiled.bodies
        out = np.zeros((len(self.t), len(bodies), 12))
        for name, value in frames.items():
            self.frames[name]
            x = numbers(f"weights of the frame of '{name}'", value, (len(self.t), 4, 4))
            k = list(bodies).index(name)
            out[:, k, :9] = x[:, :3, :3].reshape(-1, 9)
            out[:, k, 9:] = x[:, :3, 3]
        return out

    def _start_names(self, c: Any) -> list[str]:
        buffer = ffi.new("char[]", 256)
        names = []
        for i in range(lib.mbg_run_start_count(c)):
            lib.mbg_run_start_name(c, i, buffer, 256)
            names.append(text_of(buffer))
        return names

    def jvp(
        self, direction: ArrayLike | Mapping[str, Any] | None = None, *, initial: Mapping[str, float] | None = None
    ) -> dict[str, FloatArray]:
        """Differentiate all signals along a direction of the parameters, or of the start.

        Parameters
        ----------
        direction : array or mapping
            Rates of all parameters, or of some by name.
        initial : mapping from names to numbers
            Changes of the start, with the names that :meth:`vjp` returns with ``initial``.

        Returns
        -------
        dict from names of signals to arrays (nodes)
        """
        zero = np.zeros_like(self._p)
        d = zero if direction is None else self._compiled.vector(direction, base=zero)
        with self._lock, context() as ctx:
            run = self._live()
            run.options.watch.begin()
            dy = np.zeros((len(self.t), lib.mbg_run_kept_count(run.c)))
            start = ffi.NULL
            if initial:
                names = self._start_names(run.c)
                x = np.zeros(len(names))
                for name, value in initial.items():
                    if name not in names:
                        raise KeyError(f"no change '{name}' of the start{did_you_mean(str(name), names)}")
                    x[names.index(name)] = value
                start = doubles(x)
            if dy.size and (d.size or initial):
                check(ctx, lib.mbg_run_jvp_start(ctx, run.c, doubles(d), start, doubles(dy)), run.options.watch)
        return {name: dy[:, column] for name, column in self._kept.items()}

    def attributes(self, criterion: str | None = None) -> list[Attribute]:
        """Differentiate a criterion by every number of the model, the most important first.

        Returns
        -------
        list of Attribute
            Owner, key, value, derivative and effect (value times derivative), ranked by effect.
        """
        k = self._compiled.criterion(criterion)
        with self._lock, context() as ctx:
            run = self._live()
            run.options.watch.begin()
            c, n = run.c, lib.mbg_run_attribute_count(run.c)
            g, values, scales = np.zeros(n), np.zeros(n), np.zeros(n)
            check(ctx, lib.mbg_run_gradient_all(ctx, c, k, doubles(g)), run.options.watch)
            check(ctx, lib.mbg_run_attributes(c, doubles(values), doubles(scales)))
            order = np.argsort(-np.abs(scales * g), kind="stable")
            return [
                Attribute(
                    text_of(lib.mbg_run_attribute_owner(c, i)),
                    text_of(lib.mbg_run_attribute_key(c, i)),
                    text_of(lib.mbg_run_attribute_unit(c, i)),
                    float(values[i]),
                    float(g[i]),
                    float(scales[i] * g[i]),
                )
                for i in order.tolist()
            ]

    def error(
        self, criteria: str | Sequence[str] | None = None, *, gradient: bool = True, method: str = "auto"
    ) -> dict[str, StepError]:
        """Estimate the error that the steps leave in criteria and gradients.

        Takes a few more simulations with other steps.

        Returns
        -------
        dict from names of criteria to StepError
        """
        index, number = self._compiled.criteria_indices(criteria), method_index(method)
        with self._lock, context() as ctx:
            run = self._live()
            run.options.watch.begin()
            check(ctx, lib.mbg_run_select(ctx, run.c, 0, ffi.NULL))
            select(ctx, run, index)
            self._estimated = None
            check(ctx, lib.mbg_run_error(ctx, run.c, number, gradient), run.options.watch)
            self._estimated = (set(index), gradient, number)
            n, found = self._compiled.layout.count, {}
            for k in index:
                e = lib.mbg_run_get_error(run.c, k)
                by = None
                if e.gradient:
                    by = Parameters(self._compiled.layout, np.array(ffi.unpack(e.gradient, n)) if n else np.zeros(0))
                found[self._compiled.criteria[k]] = record(StepError, e, gradient=by)
        return found

    def step_for(
        self,
        accuracy: float,
        criteria: str | Sequence[str] | None = None,
        *,
        gradient: bool = True,
        method: str = "auto",
    ) -> float:
        """Return the step that would bring the relative error of criteria and gradients to an accuracy.

        Parameters
        ----------
        accuracy : float
            Relative error that is wanted.
        criteria, gradient, method
            As in :meth:`error`, whose last estimate is used where it was made for the same.

        Returns
        -------
        float
            A step [s], under error control a relative tolerance; NAN when the estimate gives none.
        """
        wanted = number("accuracy", accuracy)
        if wanted <= 0:
            raise ValueError(f"accuracy: {wanted:g} is not positive")
        index = self._compiled.criteria_indices(criteria)
        with self._lock, context() as ctx:
            if self._estimated != (set(index), gradient, method_index(method)):
                self.error(criteria, gradient=gradient, method=method)
            c = self._live().c
            check(ctx, lib.mbg_run_select(ctx, c, len(index), index))
            return float(lib.mbg_run_step_for(c, -1, wanted))

    def linearize(
        self,
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        coordinates: Sequence[str] = (),
        by: Sequence[str] = (),
    ) -> Linear:
        """Linear model x' = A x + B u, y = C x + D u about the end of the run; arguments as in ``model.linearize``."""
        return linear_model(self, None, "run", inputs, outputs, coordinates, by)

    def transitions(
        self,
        interval: float,
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        coordinates: Sequence[str] = (),
    ) -> Transitions:
        """Discrete linear models x[k+1] = A[k] x[k] + B[k] u[k] along the run, from sample to sample.

        Parameters
        ----------
        interval : float
            Time between samples [s]; a rest at the end that is shorter is left out.
        inputs, outputs, coordinates
            As in ``model.linearize``; inputs are held over an interval.
        """
        return transitions_of(self, interval, inputs, outputs, coordinates)

    def save_state(self, path: Any) -> None:
        """Write the last state as JSON; ``model.simulate(restart=path)`` begins there."""
        import os

        with self._lock, context() as ctx:
            check(ctx, lib.mbg_run_write_state(ctx, self._live().c, os.fsencode(path)))

    # ------------------------------------------------------------------ tables and pictures

    def to_pandas(self) -> Any:
        """Return the signals as a pandas DataFrame with the time as index."""
        pandas = need("pandas", "run.to_pandas()")
        return pandas.DataFrame({name: self[name] for name in self}, index=pandas.Index(self.t, name="t"))

    def to_xarray(self) -> Any:
        """Return signals and frames as an xarray Dataset over the time."""
        xarray = need("xarray", "run.to_xarray()")
        signals = {name: ("t", self[name]) for name in self}
        attrs = {"model": self._compiled.name, "formulation": self.formulation, **self.criteria}
        coords: dict[str, Any] = {"t": ("t", self.t, {"units": "s"})}
        if self._columns is not None and "position" not in signals and "rotation" not in signals:
            frames = list(self.frames.values())
            coords["body"] = [f.name for f in frames]
            signals["position"] = (  # type: ignore[assignment]
                ("t", "body", "axis"),
                np.stack([f.position for f in frames], 1) if frames else np.zeros((len(self.t), 0, 3)),
            )
            coords["axis"] = ["x", "y", "z"]
        return xarray.Dataset(signals, coords, attrs)

    def view(self, path: Any = None, *, gradient: bool = False, loads: bool = False, frames: int = 1000) -> Page:
        """Show the motion: a page for browsers.

        Parameters
        ----------
        path : path, optional
            Write the page to this file, too.
        gradient : bool
            Show the gradients of the criteria.
        loads : bool
            Show forces and moments as arrows, stresses of beams as colours; simulates a second time.
        frames : int
            Limit of the pictures; of more nodes so many are taken, evenly in time.

        Returns
        -------
        Page
            Shown by notebooks; ``page.open()`` opens a browser, ``page.save(path)`` writes a file.
        """
        options, text = self._view_options(frames), ffi.new("char **")
        options.gradient, options.loads = gradient, loads
        with self._lock, context() as ctx:
            page = Page(
                self._compiled.name, take_text(ctx, lib.mbg_view_page(ctx, self._live().c, options, text), text)
            )
        if path is not None:
            page.save(path)
        return page

    def glb(self, path: Any = None, *, frames: int = 1000) -> bytes:
        """Return the motion as binary glTF 2.0, for other viewers.

        Parameters
        ----------
        path : path, optional
            Write it to this file, too.
        frames : int
            Limit of the pictures; of more nodes so many are taken, evenly in time.
        """
        options, data, length = self._view_options(frames), ffi.new("char **"), ffi.new("size_t *")
        with self._lock, context() as ctx:
            status = lib.mbg_view_glb(ctx, self._live().c, options, data, length)
            found = take_bytes(ctx, status, data, length)
        if path is not None:
            pathlib.Path(path).write_bytes(found)
        return found

    def _view_options(self, frames: int) -> Any:
        if self._columns is None:
            raise InputError("the run keeps no frames: simulate with poses=True")
        options = ffi.new("mbg_view_options *")
        lib.mbg_view_options_default(options, ffi.sizeof("mbg_view_options"))
        options.frames = frames
        return options

    def plot(self, *signals: str, axes: Any = None) -> Any:
        """Plot signals over time with matplotlib.

        Parameters
        ----------
        *signals : str
            Names; all signals when left out, each in axes of its own.
        axes : matplotlib axes, optional
            Draw all of them into these.

        Returns
        -------
        The axes, or an array of them.
        """
        plt = need("matplotlib.pyplot", "run.plot()")
        names = list(signals) or list(self)
        for name in names:
            self[name]
        if axes is not None:
            for name in names:
                axes.plot(self.t, self[name], label=name)
            axes.set_xlabel("t [s]")
            axes.legend()
            return axes
        figure, rows = plt.subplots(
            max(len(names), 1), 1, sharex=True, squeeze=False, figsize=(7, 1 + 1.6 * max(len(names), 1))
        )
        for ax, name in zip(rows[:, 0], names, strict=False):
            ax.plot(self.t, self[name])
            ax.set_ylabel(name)
            ax.grid(alpha=0.3)
        rows[-1, 0].set_xlabel("t [s]")
        figure.suptitle(self._compiled.name)
        figure.tight_layout()
        return rows[:, 0] if len(names) != 1 else rows[0, 0]
