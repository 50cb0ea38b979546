"""Checks, modes, optimization, identification, control."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ._compiled import Compiled, NativeRun
from ._errors import InputError
from ._mbgrad import ffi, lib
from ._native import (
    FloatArray,
    RunOptions,
    Watch,
    check,
    context,
    did_you_mean,
    doubles,
    set_option,
    take_text,
    text_of,
)
from ._parameters import Parameters
from ._records import (
    Channel,
    ConstraintResult,
    ControlSamples,
    FittedParameter,
    Iteration,
    Mode,
    ParameterResult,
    Proof,
    record,
)

if TYPE_CHECKING:
    from ._model import Model

State = Callable[[Any], Any]


def _array(pointer: Any, n: int) -> FloatArray:
    """Copy numbers out of C."""
    if not pointer or n == 0:
        return np.zeros(0)
    return np.frombuffer(ffi.buffer(pointer, n * 8), dtype=np.float64).copy()


def _list(get: Callable[..., Any], c: Any, count: int) -> list[Any]:
    return [get(c, i) for i in range(count)]


def _kinds(structure: str) -> dict[str, str]:
    """Return the plain options of a structure, as the header lists them."""
    own = {"size", "run", "parameters", "progress", "user", "nname", "names", "nterm", "criteria", "weights"}
    return {name: field.type.cname for name, field in ffi.typeof(structure).fields if name not in own}


_OPTIMIZE = _kinds("mbg_optimize_options")
_IDENTIFY = _kinds("mbg_identify_options")
_CONTROL = _kinds("mbg_control_options")
_CONTROL_LISTS = ("names", "criteria", "weights")


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


class _Search:
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


def _stopped(search: _Search, result: Any) -> Any:
    """Return the result, or raise what stopped the search, with the best so far in `partial`."""
    if search.watch.c.stopped and search.watch.exception is not None:
        error = search.watch.exception
        error.partial = result  # type: ignore[attr-defined]
        raise error
    return result


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """Result of ``model.check()``: everything that ``mbgrad check --json`` prints, by attribute or in ``data``."""

    data: dict[str, Any] = dataclasses.field(repr=False)
    text: str = dataclasses.field(repr=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self.data:
            raise AttributeError(f"no '{name}'{did_you_mean(name, list(self.data))}")
        return self.data[name]

    def __repr__(self) -> str:
        d = self.data
        return f"<Check of '{d.get('model')}': {d.get('degrees_of_freedom')} degrees of freedom>"


class GradientCheck(dict[str, Proof]):
    """Proofs by criterion; true when every gradient is proven."""

    def __bool__(self) -> bool:
        return self.proven

    @property
    def proven(self) -> bool:
        """True when the gradients of all criteria are proven."""
        return all(p.proven for p in self.values())

    def __repr__(self) -> str:
        lines = []
        for name, p in self.items():
            verdict = "proven" if p.proven else "NOT proven"
            lines.append(
                f"{name}: gradient {verdict}; Taylor slope {p.taylor_slope:.2f} over {p.taylor_decades:.1f} decades,"
                f" direct and adjoint agree to {max(p.direct_vs_adjoint, 1e-16):.1g},"
                f" finite differences to {p.finite_difference:.1g}"
            )
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True, slots=True)
class Modes:
    """Result of ``model.modes()``.

    Attributes
    ----------
    modes : list of Mode
    frequencies, dampings : numpy.ndarray
        [Hz], and damping ratios.
    eigenvalues : numpy.ndarray, complex
    """

    at: str
    freedoms: int
    modes: list[Mode]

    @property
    def frequencies(self) -> FloatArray:
        """Frequencies [Hz]; 0 for modes without oscillation."""
        return np.array([m.frequency for m in self.modes])

    @property
    def dampings(self) -> FloatArray:
        """Damping ratios."""
        return np.array([m.damping for m in self.modes])

    @property
    def eigenvalues(self) -> Any:
        """Eigenvalues s [1/s]."""
        return np.array([m.eigenvalue for m in self.modes])

    def __len__(self) -> int:
        return len(self.modes)

    def __getitem__(self, index: int) -> Mode:
        return self.modes[index]


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Linear:
    """Result of ``model.linearize()``: x' = A x + B u, y = C x + D u.

    Attributes
    ----------
    states, inputs, outputs : list of str
        Names; states are coordinates, then their rates.
    values : dict
        Values of all of them at the point of linearization; nan for rotations of bodies.
    A, B, C, D : numpy.ndarray
    poles : numpy.ndarray, complex
        By size.
    derivatives : dict
        ``derivatives["k"]["A"]`` is dA/dk.
    """

    at: str
    time: float
    freedoms: int
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    values: dict[str, float]
    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    poles: Any
    derivatives: dict[str, dict[str, FloatArray]]
    _c: Any

    def __repr__(self) -> str:
        return (
            f"Linear({len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs, "
            f"at {self.at}, t = {self.time:g} s)"
        )

    def zeros(self, input: str, output: str) -> Any:
        """Transmission zeros from an input to an output, by size."""
        i, o = self._index(self.inputs, "input", input), self._index(self.outputs, "output", output)
        count = ffi.new("int *")
        re, im = ffi.new("double[]", len(self.states) + 1), ffi.new("double[]", len(self.states) + 1)
        with context() as ctx:
            check(ctx, lib.mbg_linearize_zeros(ctx, self._c, i, o, count, re, im))
        return np.array([complex(re[k], im[k]) for k in range(count[0])], dtype=complex)

    def response(self, omega: float) -> Any:
        """Response C (i omega - A)^-1 B + D at an angular frequency [rad/s]: outputs x inputs, complex."""
        shape = (len(self.outputs), len(self.inputs))
        re, im = np.zeros(shape), np.zeros(shape)
        with context() as ctx:
            check(ctx, lib.mbg_linearize_response(ctx, self._c, float(omega), doubles(re), doubles(im)))
        return re + 1j * im

    @staticmethod
    def _index(names: list[str], kind: str, name: str) -> int:
        if name not in names:
            raise InputError(f"no {kind} '{name}'{did_you_mean(name, names)}")
        return names.index(name)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class OptimizeResult:
    """Result of ``model.optimize()``.

    Attributes
    ----------
    converged, feasible : bool
    message : str
        Why the search ended.
    objective, objective_start : float
    parameters : Parameters
        All parameters at the solution.
    optimized : list of ParameterResult
    constraints : list of ConstraintResult
    history : list of Iteration
    model : Model
        The model with the optimized values.
    """

    converged: bool
    feasible: bool
    message: str
    objective: float
    objective_start: float
    violation: float
    optimality: float
    optimizer: str
    formulation: str
    iterations: int
    evaluations: int
    failures: int
    seconds: float
    parameters: Parameters = dataclasses.field(repr=False)
    optimized: list[ParameterResult] = dataclasses.field(repr=False)
    constraints: list[ConstraintResult] = dataclasses.field(repr=False)
    history: list[Iteration] = dataclasses.field(repr=False)
    model: Model = dataclasses.field(repr=False)

    @property
    def x(self) -> FloatArray:
        """Values of the optimized parameters."""
        return np.array([p.value for p in self.optimized])

    def __repr__(self) -> str:
        lines = [
            f"{self.message}",
            f"objective {self.objective_start:.6g} -> {self.objective:.6g}, {self.iterations} iterations of"
            f" {self.optimizer}, violation {self.violation:.1g}",
        ]
        at = {-1: "  at its lower bound", 0: "", 1: "  at its upper bound"}
        for p in self.optimized[:12]:
            lines.append(f"  {p.name:12s} {p.start:12.6g} -> {p.value:12.6g} {p.unit}{at[p.at_bound]}")
        return "\n".join(lines + ["  ..."] * (len(self.optimized) > 12))


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class IdentifyResult:
    """Result of ``model.identify()``.

    Attributes
    ----------
    converged : bool
    message : str
        Why the fit ended.
    cost, start_cost : float
    parameters : Parameters
        All parameters at the solution.
    fitted : list of FittedParameter
        Values with standard errors.
    channels : list of Channel
        Measured signals and their fit.
    correlation : numpy.ndarray
        Of the estimates.
    combinations, weak : list of str
        What the data cannot tell apart, and what they determine weakly.
    model : Model
        The model with the fitted values.
    """

    converged: bool
    message: str
    cost: float
    start_cost: float
    optimizer: str
    formulation: str
    iterations: int
    evaluations: int
    failures: int
    samples: int
    variance: float
    condition: float
    parameters: Parameters = dataclasses.field(repr=False)
    fitted: list[FittedParameter] = dataclasses.field(repr=False)
    channels: list[Channel] = dataclasses.field(repr=False)
    correlation: FloatArray = dataclasses.field(repr=False)
    combinations: list[str] = dataclasses.field(repr=False)
    weak: list[str] = dataclasses.field(repr=False)
    model: Model = dataclasses.field(repr=False)

    def __repr__(self) -> str:
        lines = [
            f"{self.message}",
            f"cost {self.start_cost:.6g} -> {self.cost:.6g}, {self.iterations} iterations of {self.optimizer},"
            f" {self.samples} samples",
        ]
        for p in self.fitted[:24]:
            error = f"+- {p.standard_error:<10.2g}" if np.isfinite(p.standard_error) else "not determined"
            lines.append(f"  {p.name:12s} {p.start:12.6g} -> {p.value:12.6g} {error} {p.unit}")
        return "\n".join(lines + ["  ..."] * (len(self.fitted) > 24) + self.combinations + self.weak)


@dataclasses.dataclass(frozen=True, slots=True)
class ControlResult:
    """Result of ``model.control()``.

    Attributes
    ----------
    converged : bool
    message : str
        Why the search ended.
    objective, objective_start, effort : float
    criteria : dict
        Values of the terms of the objective.
    controls : dict from names to ControlSamples
        Times and values of the samples that were found.
    model : Model
        The model with these samples in place of its own; None when a control belongs to a part.
    """

    converged: bool
    message: str
    objective: float
    objective_start: float
    effort: float
    optimizer: str
    iterations: int
    evaluations: int
    failed: int
    at_bounds: int
    criteria: dict[str, float]
    controls: dict[str, ControlSamples] = dataclasses.field(repr=False)
    model: Model | None = dataclasses.field(repr=False)


class Problems:
    """Questions to a model that are more than one run."""

    def _compile(self) -> Compiled:
        raise NotImplementedError

    def check(self, parameters: ArrayLike | Mapping[str, Any] | None = None, **values: Any) -> Check:
        """Check the model: degrees of freedom, redundant constraints, the assembled start.

        Parameters
        ----------
        parameters : array or mapping, optional
        **values
            Values of parameters.

        Returns
        -------
        Check
            What ``mbgrad check --json`` prints: ``check.degrees_of_freedom``, ``check.data``.
        """
        done = self._compile()
        p = done.vector(parameters, done.split(values)[0])
        with context() as ctx:
            options = ffi.new("mbg_check_options *")
            lib.mbg_check_options_default(options, ffi.sizeof("mbg_check_options"))
            options.parameters = doubles(p)
            out, text = ffi.new("mbg_check **"), ffi.new("char **")
            check(ctx, lib.mbg_check_create(ctx, done.c, options, out))
            found = ffi.gc(out[0], lib.mbg_check_destroy)
            shown = take_text(ctx, lib.mbg_check_json(ctx, found, text), text)
        return Check(json.loads(shown), shown)

    def check_gradient(
        self,
        parameters: ArrayLike | Mapping[str, Any] | None = None,
        *,
        criteria: str | Sequence[str] | None = None,
        **settings: Any,
    ) -> GradientCheck:
        """Prove the gradients of criteria: Taylor test, direct against adjoint, finite differences.

        Parameters
        ----------
        parameters : array or mapping, optional
        criteria : str or list of str, optional
            All of them when left out.
        **settings
            Values of parameters, and options of the run.

        Returns
        -------
        GradientCheck
            Proofs by criterion; it is true when all gradients are proven.
        """
        done = self._compile()
        index = done.criteria_indices(criteria)
        values, options = done.split(settings)
        p = done.vector(parameters, values)
        watch = Watch()
        found = GradientCheck()
        with context() as ctx:
            run = NativeRun(done, RunOptions(options, watch), ctx)
            check(ctx, lib.mbg_run_set_parameters(ctx, run.c, doubles(p)))
            check(ctx, lib.mbg_run_prove(ctx, run.c), watch)
            agreement = max(1e-10, 1e3 * lib.mbg_run_relative_tolerance(run.c))
            for k in index:
                found[done.criteria[k]] = _proof(done, k, lib.mbg_run_get_proof(run.c, k), agreement, p)
        return found

    def modes(
        self,
        parameters: ArrayLike | Mapping[str, Any] | None = None,
        *,
        at: str = "equilibrium",
        count: int = 10,
        undamped: bool = False,
        gradient: bool = False,
        **values: Any,
    ) -> Modes:
        """Compute frequencies, damping ratios and shapes of small vibrations.

        Parameters
        ----------
        parameters : array or mapping, optional
        at : str
            ``"equilibrium"``, ``"start"`` or ``"steady"``.
        count : int
            Number of modes, the lowest ones.
        undamped : bool
            Leave damping out.
        gradient : bool
            Differentiate frequencies and damping ratios by the parameters.
        **values
            Values of parameters.
        """
        done = self._compile()
        p = done.vector(parameters, done.split(values)[0])
        options = ffi.new("mbg_modes_options *")
        lib.mbg_modes_options_default(options, ffi.sizeof("mbg_modes_options"))
        kinds = {"count": "int", "undamped": "_Bool", "gradient": "_Bool"}
        for name, value in (("count", count), ("undamped", undamped), ("gradient", gradient)):
            set_option(options, kinds, name, value, [])
        where = lib.mbg_modes_at_find(str(at).encode())
        if where < 0:
            raise InputError(f"at: no '{at}'{did_you_mean(str(at), ['equilibrium', 'start', 'steady'])}")
        options.at = where
        options.parameters = doubles(p)
        with context() as ctx:
            out = ffi.new("mbg_modes **")
            check(ctx, lib.mbg_modes_create(ctx, done.c, options, out))
            c = ffi.gc(out[0], lib.mbg_modes_destroy)
            s = lib.mbg_modes_get_summary(c)
            return Modes(at, s.freedoms, [_mode(done, c, i, s) for i in range(s.count)])

    def linearize(
        self,
        parameters: ArrayLike | Mapping[str, Any] | None = None,
        *,
        at: str = "equilibrium",
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        coordinates: Sequence[str] = (),
        by: Sequence[str] = (),
        **values: Any,
    ) -> Linear:
        """Linear model x' = A x + B u, y = C x + D u in minimal coordinates.

        Parameters
        ----------
        parameters : array or mapping, optional
        at : str
            ``"equilibrium"``, ``"start"`` or ``"steady"``.
        inputs, outputs : sequence of str, optional
            Controls and parameters (default: all controls), signals (default: all that have a name).
        coordinates : sequence of str
            The first coordinates, ``"crank.angle"``, ``"body.x"``; others are added.
        by : sequence of str
            Parameters to differentiate A, B, C, D by.
        **values
            Values of parameters.
        """
        done = self._compile()
        p = done.vector(parameters, done.split(values)[0])
        options = ffi.new("mbg_linearize_options *")
        lib.mbg_linearize_options_default(options, ffi.sizeof("mbg_linearize_options"))
        where = lib.mbg_linearize_at_find(str(at).encode())
        if where < 0 or at == "run":
            raise InputError(f"at: no '{at}'{did_you_mean(str(at), ['equilibrium', 'start', 'steady'])}")
        options.at = where
        options.parameters = doubles(p)
        keep: list[Any] = []
        for name, count, names in (
            ("inputs", "ninput", inputs),
            ("outputs", "noutput", outputs),
            ("coordinates", "ncoordinate", coordinates),
        ):
            if names is not None:
                texts = [ffi.new("char[]", str(n).encode()) for n in names]
                keep += [texts, ffi.new("char *[]", texts or [ffi.NULL])]
                setattr(options, name, keep[-1])
                setattr(options, count, len(texts))
        index = [_parameter_index(done, n) for n in by]
        keep.append(ffi.new("int[]", index or [0]))
        options.by, options.nby, options.gradient = keep[-1], len(index), bool(index)
        with context() as ctx:
            out = ffi.new("mbg_linearize **")
            check(ctx, lib.mbg_linearize_create(ctx, done.c, options, out))
            return _linear(at, list(by), ffi.gc(out[0], lib.mbg_linearize_destroy))

    def optimize(
        self,
        parameters: ArrayLike | Mapping[str, Any] | None = None,
        *,
        progress: bool | Callable[[SearchState], Any] | None = None,
        **settings: Any,
    ) -> OptimizeResult:
        """Solve the problem of the section ``optimize`` of the model.

        Parameters
        ----------
        parameters : array or mapping, optional
            The start.
        progress : bool or callable, optional
            True prints a line for each iteration; a callable gets a SearchState and may return True to stop.
        **settings
            ``optimizer``, ``iterations``, ``tolerance``, ``threads``, ``place``, ``seed``, ``restart``, ``resume``;
            values of parameters; options of the runs, except ``tolerance`` and ``threads``.

        Returns
        -------
        OptimizeResult
            Also of a search that did not converge. Ctrl-C raises KeyboardInterrupt, with the best design so far in
            its attribute ``partial``.
        """
        done = self._compile()
        search = _Search(
            done,
            "mbg_optimize_options",
            _OPTIMIZE,
            parameters,
            settings,
            progress,
            lambda c: SearchState(c.iteration, c.objective, c.violation),
        )
        lib.mbg_py_watch_optimize(search.c, search.watch.c)
        with context() as ctx:
            out, text = ffi.new("mbg_optimize **"), ffi.new("char **")
            check(ctx, lib.mbg_optimize_create(ctx, done.c, search.c, out), search.watch)
            c = ffi.gc(out[0], lib.mbg_optimize_destroy)
            search.check(ctx, lib.mbg_optimize_solve(ctx, c))
            s = lib.mbg_optimize_get_summary(c)
            source = take_text(ctx, lib.mbg_optimize_model_text(ctx, c, text), text)
            result = record(
                OptimizeResult,
                s,
                message=text_of(lib.mbg_optimize_reason_text(s.reason)),
                parameters=Parameters(done.layout, _array(lib.mbg_optimize_parameters(c), done.layout.count)),
                optimized=[record(ParameterResult, r) for r in _list(lib.mbg_optimize_get_parameter, c, s.parameters)],
                constraints=[
                    record(ConstraintResult, r) for r in _list(lib.mbg_optimize_get_constraint, c, s.constraints)
                ],
                history=[record(Iteration, r) for r in _list(lib.mbg_optimize_get_record, c, s.history)],
                model=self._with_text(source),
            )
        return _stopped(search, result)  # type: ignore[no-any-return]

    def identify(
        self,
        parameters: ArrayLike | Mapping[str, Any] | None = None,
        *,
        progress: bool | Callable[[SearchState], Any] | None = None,
        **settings: Any,
    ) -> IdentifyResult:
        """Fit parameters to the measurements of the model's least-squares criteria.

        Parameters
        ----------
        parameters : array or mapping, optional
            The start.
        progress : bool or callable, optional
            As in :meth:`optimize`.
        **settings
            ``optimizer``, ``iterations``, ``tolerance``, ``starts``, ``seed``, ``homotopy``, ``gain``, ``bias``,
            ``restart``, ``resume``; values of parameters; options of the runs, except ``tolerance``.

        Returns
        -------
        IdentifyResult
            Values with standard errors, correlations, and the fit of every measured signal.
        """
        done = self._compile()
        search = _Search(
            done,
            "mbg_identify_options",
            _IDENTIFY,
            parameters,
            settings,
            progress,
            lambda c: SearchState(c.iteration, c.cost),
        )
        lib.mbg_py_watch_identify(search.c, search.watch.c)
        with context() as ctx:
            out, text = ffi.new("mbg_identify **"), ffi.new("char **")
            check(ctx, lib.mbg_identify_create(ctx, done.c, search.c, out), search.watch)
            c = ffi.gc(out[0], lib.mbg_identify_destroy)
            search.check(ctx, lib.mbg_identify_solve(ctx, c))
            s = lib.mbg_identify_get_summary(c)
            source = take_text(ctx, lib.mbg_identify_model_text(ctx, c, text), text)
            fitted = _list(lib.mbg_identify_get_parameter, c, s.parameters)
            p = search.p.copy()
            for r in fitted:
                p[r.index] = r.value
            n = s.parameters
            result = record(
                IdentifyResult,
                s,
                message=text_of(lib.mbg_identify_reason_text(s.reason)),
                parameters=Parameters(done.layout, p),
                fitted=[record(FittedParameter, r) for r in fitted],
                channels=[_channel(r) for r in _list(lib.mbg_identify_get_channel, c, s.channels)],
                correlation=np.array(
                    [[lib.mbg_identify_correlation(c, i, j) for j in range(n)] for i in range(n)]
                ).reshape(n, n),
                combinations=[text_of(r) for r in _list(lib.mbg_identify_combination, c, s.combinations)],
                weak=[text_of(r) for r in _list(lib.mbg_identify_weak, c, s.weak)],
                model=self._with_text(source),
            )
        return _stopped(search, result)  # type: ignore[no-any-return]

    def control(
        self,
        parameters: ArrayLike | Mapping[str, Any] | None = None,
        *,
        names: Sequence[str] | None = None,
        criteria: Sequence[str] | Mapping[str, float] | None = None,
        progress: bool | Callable[[SearchState], Any] | None = None,
        **settings: Any,
    ) -> ControlResult:
        """Find controls u(t) that minimize criteria: the section ``control`` of the model.

        Parameters
        ----------
        parameters : array or mapping, optional
            Values of the parameters.
        names : list of str, optional
            Controls to be found; those of the section, or all, when left out.
        criteria : list of str, or mapping from names to weights, optional
            The objective.
        progress : bool or callable, optional
            As in :meth:`optimize`.
        **settings
            ``samples``, ``interpolation``, ``min``, ``max``, ``effort``, ``stages``, ``reduction``, ``optimizer``,
            ``iterations``, ``gradient_tolerance``, ``restart``, ``resume``; values of parameters; options of the run.

        Returns
        -------
        ControlResult
        """
        done = self._compile()

        def state(c: Any) -> SearchState:
            summary = lib.mbg_control_get_summary(c)
            return SearchState(summary.iterations, summary.objective)

        search = _Search(done, "mbg_control_options", _CONTROL, parameters, settings, progress, state)
        if names is not None:
            search.c.nname, search.c.names = len(names), _texts(names, search.keep)
        if criteria is not None:
            search.c.nterm, search.c.criteria = len(criteria), _texts(list(criteria), search.keep)
            if isinstance(criteria, Mapping):
                weights = ffi.new("double[]", [float(w) for w in criteria.values()])
                search.keep.append(weights)
                search.c.weights = weights
        lib.mbg_py_watch_control(search.c, search.watch.c)
        with context() as ctx:
            out = ffi.new("mbg_control **")
            check(ctx, lib.mbg_control_create(ctx, done.c, search.c, out), search.watch)
            c = ffi.gc(out[0], lib.mbg_control_destroy)
            search.check(ctx, lib.mbg_control_solve(ctx, c))
            s = lib.mbg_control_get_summary(c)
            samples = _list(lib.mbg_control_get_samples, c, s.controls)
            controls = {
                text_of(r.name): record(
                    ControlSamples, r, times=_array(r.times, r.samples), values=_array(r.values, r.samples)
                )
                for r in samples
            }
            terms = _list(lib.mbg_control_get_term, c, s.terms)
            result = record(
                ControlResult,
                s,
                message=text_of(s.status),
                criteria={text_of(t.criterion): t.value for t in terms},
                controls=controls,
                model=self._with_controls(controls),
            )
        return _stopped(search, result)  # type: ignore[no-any-return]

    def _with_text(self: Any, text: str) -> Model:
        """Return this model with another text."""
        new: Any = self.copy()
        new._text, new._source, new._done = text, None, None
        return new  # type: ignore[no-any-return]

    def _with_controls(self: Any, controls: dict[str, ControlSamples]) -> Model | None:
        new: Any = self.copy()
        held = new._edit().get("controls", {})
        for name, found in controls.items():
            if name not in held:
                return None
            old = held[name]
            held[name] = {
                **{k: v for k, v in old.items() if k not in ("file", "times", "values")},
                "times": found.times.tolist(),
                "values": found.values.tolist(),
                "interpolation": found.interpolation,
            }
        return new  # type: ignore[no-any-return]


def _texts(names: Sequence[str], keep: list[Any]) -> Any:
    texts = [ffi.new("char[]", str(name).encode()) for name in names]
    array = ffi.new("char *[]", texts)
    keep.extend([*texts, array])
    return array


def _channel(r: Any) -> Channel:
    n = r.samples
    return record(Channel, r, time=_array(r.time, n), data=_array(r.data, n), model=_array(r.model, n))


def _proof(done: Compiled, k: int, q: Any, agreement: float, p: FloatArray) -> Proof:
    gradient = _array(q.gradient, done.layout.count)
    points = [(t.eps, t.difference, t.remainder) for t in q.taylor]
    same = q.direct_vs_adjoint <= agreement
    proven = same and 1.95 <= q.taylor_slope <= 2.05 and q.taylor_decades >= 2.99
    if same and not proven:  # linear in the parameters: the remainder of the largest step is rounding
        first = next((t for t in points if np.isfinite(t[2])), None)
        proven = first is not None and first[2] <= 1e-12 * max(abs(q.value), abs(first[1]))
    if not proven:  # no parameter changes the criterion beyond rounding
        steps = [abs(t[1]) for t in points if np.isfinite(t[1])]
        last = [abs(t[1]) for t in points[-4:] if np.isfinite(t[1])]
        rounding = 1e3 * max([*last, 1e-16 * abs(q.value)])
        size = np.where(p != 0, np.abs(p), 1.0)
        proven = max(steps, default=0.0) <= rounding and bool(np.all(size * np.abs(gradient) <= rounding))
    return record(
        Proof,
        q,
        criterion=done.criteria[k],
        gradient=Parameters(done.layout, gradient),
        proven=bool(proven),
        eps=tuple(t[0] for t in points),
        remainder=tuple(t[2] for t in points),
    )


def _mode(done: Compiled, c: Any, i: int, summary: Any) -> Mode:
    m = lib.mbg_modes_get_mode(c, i)
    bodies = [text_of(lib.mbg_modes_body_name(c, b)) for b in range(summary.bodies)]
    shape: Any = _array(lib.mbg_modes_shape(c, i, 0), 6 * summary.bodies)
    imaginary = lib.mbg_modes_shape(c, i, 1)
    if imaginary:
        shape = shape + 1j * _array(imaginary, 6 * summary.bodies)
    shape = shape.reshape(-1, 6)

    def by(pointer: Any) -> Parameters | None:
        return Parameters(done.layout, _array(pointer, done.layout.count)) if pointer else None

    return record(
        Mode,
        m,
        kind=text_of(lib.mbg_mode_kind_name(m.kind)),
        eigenvalue=complex(m.re, m.im),
        body=bodies[m.body] if m.body >= 0 else None,
        shape=dict(zip(bodies, shape, strict=False)),
        frequency_gradient=by(lib.mbg_modes_frequency_gradient(c, i)),
        damping_gradient=by(lib.mbg_modes_damping_gradient(c, i)),
    )


def _parameter_index(done: Any, name: str) -> int:
    found: int = lib.mbg_model_parameter_find(done.c, str(name).encode())
    if found < 0:
        raise InputError(f"by: no parameter '{name}'")
    return found


def _linear(at: str, by: list[str], c: Any) -> Linear:
    s = lib.mbg_linearize_get_summary(c)
    rows, columns = ffi.new("int *"), ffi.new("int *")

    def matrix(which: str, derivative: int = -1) -> FloatArray:
        pointer = lib.mbg_linearize_matrix(c, which.encode(), rows, columns)
        if derivative >= 0:
            pointer = lib.mbg_linearize_derivative(c, which.encode(), derivative)
        n = rows[0] * columns[0]
        found = np.array(_array(pointer, n)) if n else np.zeros(0)
        return found.reshape(rows[0], columns[0])

    def names(get: Any, count: int) -> list[Any]:
        return [get(c, i) for i in range(count)]

    states, inputs = names(lib.mbg_linearize_state, s.states), names(lib.mbg_linearize_input, s.inputs)
    outputs = names(lib.mbg_linearize_output, s.outputs)
    re, im = ffi.new("double[]", s.states + 1), ffi.new("double[]", s.states + 1)
    lib.mbg_linearize_poles(c, re, im)
    return Linear(
        at=at,
        time=s.time,
        freedoms=s.freedoms,
        states=[text_of(n.name) for n in states],
        inputs=[text_of(n.name) for n in inputs],
        outputs=[text_of(n.name) for n in outputs],
        values={text_of(n.name): n.value for n in states + inputs + outputs},
        A=matrix("A"),
        B=matrix("B"),
        C=matrix("C"),
        D=matrix("D"),
        poles=np.array([complex(re[i], im[i]) for i in range(s.states)], dtype=complex),
        derivatives={name: {q: matrix(q, i) for q in "ABCD"} for i, name in enumerate(by)},
        _c=c,
    )
