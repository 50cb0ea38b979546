"""Checks, modes, optimization, identification, control."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ._compiled import Compiled, Held, NativeRun, held
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
    number,
    set_option,
    take_text,
    text_of,
)
from ._parameters import Parameters
from ._records import (
    ActivePoint,
    Channel,
    ConstraintResult,
    ControlSamples,
    FitStart,
    FittedParameter,
    Iteration,
    Line,
    LoadCase,
    Mode,
    ParameterResult,
    Proof,
    Shift,
    record,
)
from ._searches import (
    CONTROL,
    IDENTIFY,
    OPTIMIZE,
    IdentifyProblem,
    OptimizeProblem,
    Search,
    SearchState,
    array_of,
    finished,
    list_of,
)

if TYPE_CHECKING:
    from ._model import Model
    from ._run import Run


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
                + (
                    f"; below eps {p.sequence_eps:.1g}, where event '{p.sequence_event}' is another one"
                    if p.sequence_event
                    else ""
                )
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
    positions : dict from bodies to arrays (3)
        Origins of the bodies at the point of linearization, in world axes.
    lines : list of Line
        A picture of the mechanism.
    """

    at: str
    freedoms: int
    modes: list[Mode]
    positions: dict[str, FloatArray] = dataclasses.field(repr=False)
    lines: list[Line] = dataclasses.field(repr=False)
    _held: Held = dataclasses.field(repr=False, compare=False)

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

    @property
    def data(self) -> dict[str, Any]:
        """Everything that ``mbgrad modes --json`` prints."""
        return _json(self._held, lib.mbg_modes_json)

    def displace(
        self, mode: int, body: str | None, points: ArrayLike, *, amplitude: float = 1.0, phase: float = 0.0
    ) -> FloatArray:
        """Displace points of a body by a mode.

        Parameters
        ----------
        mode : int
            Index of the mode.
        body : str or None
            The body; None is the ground, which does not move.
        points : array (3) or (points, 3)
            In world axes, at the point of linearization.
        amplitude : float
            Factor of the shape.
        phase : float
            Of the oscillation [rad].

        Returns
        -------
        numpy.ndarray
            x + amplitude re((u + theta x r) exp(i phase)), in the shape of `points`.
        """
        bodies = list(self.positions)
        if body is not None and body not in self.positions:
            raise InputError(f"no body '{body}'{did_you_mean(str(body), bodies)}")
        k = range(len(self.modes))[mode]
        index = -1 if body is None else bodies.index(body)
        x = np.array(points, dtype=np.float64)
        if x.ndim not in (1, 2) or x.shape[-1] != 3 or not np.isfinite(x).all():
            raise ValueError(f"points: expected finite numbers in an array (3) or (points, 3), not {x.shape}")
        rows, out = x.reshape(-1, 3), np.empty((x.size // 3, 3))
        size, angle = number("amplitude", amplitude), number("phase", phase)
        for old, new in zip(rows, out, strict=True):
            with context() as ctx:
                check(ctx, lib.mbg_modes_displace(self._held.c, k, size, angle, index, doubles(old), doubles(new)))
        return out.reshape(x.shape)


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
    _held: Held = dataclasses.field(compare=False)

    def __repr__(self) -> str:
        return (
            f"Linear({len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs, "
            f"at {self.at}, t = {self.time:g} s)"
        )

    @property
    def data(self) -> dict[str, Any]:
        """Everything that ``mbgrad linearize --json`` prints: units and meanings of states, inputs and outputs, too."""
        return _json(self._held, lib.mbg_linearize_json)

    def zeros(self, input: str, output: str) -> Any:
        """Transmission zeros from an input to an output, by size."""
        i, o = self._index(self.inputs, "input", input), self._index(self.outputs, "output", output)
        count = ffi.new("int *")
        re, im = ffi.new("double[]", len(self.states) + 1), ffi.new("double[]", len(self.states) + 1)
        with context() as ctx:
            check(ctx, lib.mbg_linearize_zeros(ctx, self._held.c, i, o, count, re, im))
        return np.array([complex(re[k], im[k]) for k in range(count[0])], dtype=complex)

    def response(self, omega: float) -> Any:
        """Response C (i omega - A)^-1 B + D at an angular frequency [rad/s]: outputs x inputs, complex."""
        shape = (len(self.outputs), len(self.inputs))
        re, im = np.zeros(shape), np.zeros(shape)
        with context() as ctx:
            check(ctx, lib.mbg_linearize_response(ctx, self._held.c, float(omega), doubles(re), doubles(im)))
        return re + 1j * im

    @staticmethod
    def _index(names: list[str], kind: str, name: str) -> int:
        if name not in names:
            raise InputError(f"no {kind} '{name}'{did_you_mean(name, names)}")
        return names.index(name)


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Transitions:
    """Result of ``run.transitions()``: x[k+1] = A[k] x[k] + B[k] u[k], y[k] = C[k] x[k] + D[k] u[k] for small changes.

    Attributes
    ----------
    states, inputs, outputs : list of str
        Names; states are coordinates, then their rates, then states of the model.
    t : numpy.ndarray, (N + 1,)
        Times of the samples.
    x, y : numpy.ndarray, (N + 1, states), (N + 1, outputs)
        Values at the samples; nan for rotations of bodies.
    A, B, C, D : numpy.ndarray, (N, ...)
        A[k], B[k] lead from sample k to sample k + 1, with inputs held between them.
    """

    formulation: str
    interval: float
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    t: FloatArray
    x: FloatArray
    y: FloatArray
    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    _held: Held = dataclasses.field(compare=False)

    def __repr__(self) -> str:
        return (
            f"Transitions({len(self.A)} intervals of {self.interval:g} s, {len(self.states)} states, "
            f"{len(self.inputs)} inputs, {len(self.outputs)} outputs)"
        )

    @property
    def data(self) -> dict[str, Any]:
        """Everything that ``mbgrad linearize --transition --json`` prints."""
        return _json(self._held, lib.mbg_transitions_json)


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
    active : list of ActivePoint
        Points of the constraints that hold the objective up.
    cases : list of LoadCase
        Objective of each load case.
    history : list of Iteration
    warnings : list of str
    order : str
        Second-order conditions, and of ``optimize(curvature=True)`` alone, as the next two.
    curvatures : array
        Eigenvalues of the reduced Hessian of the Lagrangian by scaled parameters.
    shifts : list of Shift
        How optimum and objective move with numbers of the model.
    objective_error : float
        Error of the steps in the objective, NAN unless ``optimize(error=True)`` estimated it.
    error_regular : bool
        The estimate is better than a guess.
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
    objective_error: float
    error_regular: bool
    parameters: Parameters = dataclasses.field(repr=False)
    optimized: list[ParameterResult] = dataclasses.field(repr=False)
    constraints: list[ConstraintResult] = dataclasses.field(repr=False)
    active: list[ActivePoint] = dataclasses.field(repr=False)
    cases: list[LoadCase] = dataclasses.field(repr=False)
    history: list[Iteration] = dataclasses.field(repr=False)
    order: str = dataclasses.field(repr=False)
    curvatures: FloatArray = dataclasses.field(repr=False)
    shifts: list[Shift] = dataclasses.field(repr=False)
    warnings: list[str] = dataclasses.field(repr=False)
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
    singular_values : numpy.ndarray
        Of the Jacobian of the residuals with columns of length 1, decreasing.
    starts : list of FitStart
        What became of each start.
    warnings : list of str
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
    singular_values: FloatArray = dataclasses.field(repr=False)
    starts: list[FitStart] = dataclasses.field(repr=False)
    warnings: list[str] = dataclasses.field(repr=False)
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
        result = Held(functools.partial(_create_modes, self, p, at, count, undamped, gradient))
        c = result.c
        s = lib.mbg_modes_get_summary(c)
        bodies = [text_of(lib.mbg_modes_body_name(c, b)) for b in range(s.bodies)]
        return Modes(
            at,
            s.freedoms,
            [_mode(done, c, i, bodies) for i in range(s.count)],
            {name: array_of(lib.mbg_modes_body_position(c, b), 3) for b, name in enumerate(bodies)},
            [_line(lib.mbg_modes_get_line(c, i), bodies) for i in range(s.lines)],
            result,
        )

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
            Parameters to differentiate A, B, C, D by; of a vector, by each of its entries.
        **values
            Values of parameters.
        """
        done = self._compile()
        p = done.vector(parameters, done.split(values)[0])
        if at not in ("equilibrium", "start", "steady"):
            hint = "; run.linearize() is about the end of a run" if at == "run" else ""
            raise InputError(f"at: no '{at}'{hint or did_you_mean(str(at), ['equilibrium', 'start', 'steady'])}")
        return linear_model(self, p, at, inputs, outputs, coordinates, by)

    def optimize(
        self,
        parameters: ArrayLike | Mapping[str, Any] | None = None,
        *,
        progress: bool | Callable[[SearchState], Any] | None = None,
        error: bool = False,
        curvature: bool = False,
        **settings: Any,
    ) -> OptimizeResult:
        """Solve the problem of the section ``optimize`` of the model.

        Parameters
        ----------
        parameters : array or mapping, optional
            The start.
        progress : bool or callable, optional
            True prints a line for each iteration; a callable gets a SearchState and may return True to stop.
        error : bool
            Estimate the error of the steps in the objective at the solution: ``result.objective_error``.
        curvature : bool
            Second-order conditions at the solution, and how it moves with numbers of the model: ``result.order``,
            ``result.curvatures``, ``result.shifts``.
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
        search = self._optimize_search(parameters, settings, progress)
        with context() as ctx:
            out, text = ffi.new("mbg_optimize **"), ffi.new("char **")
            check(ctx, lib.mbg_optimize_create(ctx, done.c, search.c, out), search.watch)
            c = ffi.gc(out[0], lib.mbg_optimize_destroy)
            search.check(ctx, lib.mbg_optimize_solve(ctx, c))
            if error and not search.watch.c.stopped:
                check(ctx, lib.mbg_optimize_error(ctx, c), search.watch)
            if curvature and not search.watch.c.stopped:
                check(ctx, lib.mbg_optimize_curvature(ctx, c), search.watch)
            s = lib.mbg_optimize_get_summary(c)
            source = take_text(ctx, lib.mbg_optimize_model_text(ctx, c, text), text)
            result = record(
                OptimizeResult,
                s,
                message=text_of(lib.mbg_optimize_reason_text(s.reason)),
                parameters=Parameters(done.layout, array_of(lib.mbg_optimize_parameters(c), done.layout.count)),
                optimized=[
                    record(ParameterResult, r) for r in list_of(lib.mbg_optimize_get_parameter, c, s.parameters)
                ],
                constraints=[
                    record(ConstraintResult, r) for r in list_of(lib.mbg_optimize_get_constraint, c, s.constraints)
                ],
                active=[record(ActivePoint, r) for r in list_of(lib.mbg_optimize_get_active, c, s.active)],
                cases=[record(LoadCase, r) for r in list_of(lib.mbg_optimize_get_case, c, s.cases)],
                history=[record(Iteration, r) for r in list_of(lib.mbg_optimize_get_record, c, s.history)],
                order=text_of(lib.mbg_optimize_order_text(int(s.order))),
                curvatures=array_of(lib.mbg_optimize_curvatures(c), s.curvatures) if s.curvatures else np.empty(0),
                shifts=[
                    record(Shift, r, parameters=array_of(r.by, s.parameters))
                    for r in list_of(lib.mbg_optimize_get_shift, c, s.shifts)
                ],
                warnings=[text_of(r) for r in list_of(lib.mbg_optimize_warning, c, s.warnings)],
                model=self._with_text(source),
            )
        return finished(search, result)  # type: ignore[no-any-return]

    def optimize_problem(
        self, parameters: ArrayLike | Mapping[str, Any] | None = None, **settings: Any
    ) -> OptimizeProblem:
        """Return the problem of the section ``optimize`` for other optimizers; arguments as in :meth:`optimize`."""
        return OptimizeProblem(self._compile(), self._optimize_search(parameters, settings))

    def _optimize_search(self, start: Any, settings: dict[str, Any], progress: Any = None) -> Search:
        def state(c: Any) -> SearchState:
            return SearchState(c.iteration, c.objective, c.violation)

        search = Search(self._compile(), "mbg_optimize_options", OPTIMIZE, start, settings, progress, state)
        lib.mbg_py_watch_optimize(search.c, search.watch.c)
        return search

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
            ``optimizer``, ``iterations``, ``tolerance``, ``starts``, ``place``, ``seed``, ``homotopy``, ``gain``,
            ``bias``, ``restart``, ``resume``; values of parameters; options of the runs, except ``tolerance``.

        Returns
        -------
        IdentifyResult
            Values with standard errors, correlations, and the fit of every measured signal.
        """
        done = self._compile()
        search = self._identify_search(parameters, settings, progress)
        with context() as ctx:
            out, text = ffi.new("mbg_identify **"), ffi.new("char **")
            check(ctx, lib.mbg_identify_create(ctx, done.c, search.c, out), search.watch)
            c = ffi.gc(out[0], lib.mbg_identify_destroy)
            search.check(ctx, lib.mbg_identify_solve(ctx, c))
            s = lib.mbg_identify_get_summary(c)
            source = take_text(ctx, lib.mbg_identify_model_text(ctx, c, text), text)
            fitted = list_of(lib.mbg_identify_get_parameter, c, s.parameters)
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
                channels=[_channel(r) for r in list_of(lib.mbg_identify_get_channel, c, s.channels)],
                correlation=np.array(
                    [[lib.mbg_identify_correlation(c, i, j) for j in range(n)] for i in range(n)]
                ).reshape(n, n),
                combinations=[text_of(r) for r in list_of(lib.mbg_identify_combination, c, s.combinations)],
                weak=[text_of(r) for r in list_of(lib.mbg_identify_weak, c, s.weak)],
                singular_values=array_of(lib.mbg_identify_singular_values(c), n),
                starts=[_fit_start(r, n) for r in list_of(lib.mbg_identify_get_start, c, s.starts)],
                warnings=[text_of(r) for r in list_of(lib.mbg_identify_warning, c, s.warnings)],
                model=self._with_text(source),
            )
        return finished(search, result)  # type: ignore[no-any-return]

    def identify_problem(
        self, parameters: ArrayLike | Mapping[str, Any] | None = None, **settings: Any
    ) -> IdentifyProblem:
        """Return the least-squares problem for other optimizers; arguments as in :meth:`identify`."""
        return IdentifyProblem(self._compile(), self._identify_search(parameters, settings))

    def _identify_search(self, start: Any, settings: dict[str, Any], progress: Any = None) -> Search:
        def state(c: Any) -> SearchState:
            return SearchState(c.iteration, c.cost)

        search = Search(self._compile(), "mbg_identify_options", IDENTIFY, start, settings, progress, state)
        lib.mbg_py_watch_identify(search.c, search.watch.c)
        return search

    def control(
        self,
        parameters: ArrayLike | Mapping[str, Any] | None = None,
        *,
        names: Sequence[str] | None = None,
        criteria: Sequence[str] | Mapping[str, float] | None = None,
        progress: bool | Callable[[SearchState], Any] | None = None,
        begin: str | os.PathLike[str] | None = None,
        save: str | os.PathLike[str] | None = None,
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
        begin : path, optional
            Begin with the best control of a file that ``save`` or ``restart`` of another search wrote; its controls
            must be the same, their samples may differ.
        save : path, optional
            Write stage and best control to this file, also of a search that was stopped.
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

        search = Search(done, "mbg_control_options", CONTROL, parameters, settings, progress, state)
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
            if begin is not None:
                check(ctx, lib.mbg_control_read_restart(ctx, c, os.fsencode(begin)), search.watch)
            search.check(ctx, lib.mbg_control_solve(ctx, c))
            if save is not None:
                check(ctx, lib.mbg_control_write_restart(ctx, c, os.fsencode(save)))
            s = lib.mbg_control_get_summary(c)
            samples = list_of(lib.mbg_control_get_samples, c, s.controls)
            controls = {
                text_of(r.name): record(
                    ControlSamples, r, times=array_of(r.times, r.samples), values=array_of(r.values, r.samples)
                )
                for r in samples
            }
            terms = list_of(lib.mbg_control_get_term, c, s.terms)
            result = record(
                ControlResult,
                s,
                message=text_of(s.status),
                criteria={text_of(t.criterion): t.value for t in terms},
                controls=controls,
                model=self._with_controls(controls),
            )
        return finished(search, result)  # type: ignore[no-any-return]

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
    return record(Channel, r, time=array_of(r.time, n), data=array_of(r.data, n), model=array_of(r.model, n))


_CHANGES = {lib.MBG_EVENT_GONE: "gone", lib.MBG_EVENT_NEW: "new", lib.MBG_EVENT_MOVED: "moved"}


def _proof(done: Compiled, k: int, q: Any, agreement: float, p: FloatArray) -> Proof:
    gradient = array_of(q.gradient, done.layout.count)
    points = [(t.eps, t.difference, t.remainder) for t in q.taylor]
    same = q.direct_vs_adjoint <= agreement
    two = 1.95 <= q.taylor_slope <= 2.05
    proven = same and two and q.taylor_decades >= 2.99
    if same and two and q.sequence_event:  # up to the eps where the sequence of events changes
        proven = proven or (q.taylor_decades >= 1.5 and points[q.taylor_first][0] < q.sequence_eps)
    if same and not proven:  # linear in the parameters: the remainder of the largest step is rounding, over 3 decades
        first = next((t for t in points[:-9] if np.isfinite(t[2]) and t[0] < q.sequence_eps), None)
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
        sequence_change=_CHANGES[q.sequence_change] if q.sequence_event else None,
    )


def _json(result: Held, write: Callable[..., int]) -> dict[str, Any]:
    with context() as ctx:
        text = ffi.new("char **")
        return json.loads(take_text(ctx, write(ctx, result.c, text), text))  # type: ignore[no-any-return]


def _create_modes(model: Problems, p: FloatArray, at: str, count: int, undamped: bool, gradient: bool) -> Any:
    done = model._compile()
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
    return held(out[0], lib.mbg_modes_destroy, done)


_LINES = {lib.MBG_LINE_BODY: "body", lib.MBG_LINE_BEAM: "beam", lib.MBG_LINE_FORCE: "force"}


def _line(r: Any, bodies: list[str]) -> Line:
    ends = tuple(bodies[b] if b >= 0 else None for b in r.body)
    return Line(_LINES[r.kind], (ends[0], ends[1]), np.array([list(x) for x in r.x]))


def _mode(done: Compiled, c: Any, i: int, bodies: list[str]) -> Mode:
    m = lib.mbg_modes_get_mode(c, i)
    shape: Any = array_of(lib.mbg_modes_shape(c, i, 0), 6 * len(bodies))
    imaginary = lib.mbg_modes_shape(c, i, 1)
    if imaginary:
        shape = shape + 1j * array_of(imaginary, 6 * len(bodies))
    shape = shape.reshape(-1, 6)

    def by(pointer: Any, imaginary: Any = None) -> Parameters | None:
        if not pointer:
            return None
        found: Any = array_of(pointer, done.layout.count)
        if imaginary:
            found = found + 1j * array_of(imaginary, done.layout.count)
        return Parameters(done.layout, found)

    return record(
        Mode,
        m,
        kind=text_of(lib.mbg_mode_kind_name(m.kind)),
        eigenvalue=complex(m.re, m.im),
        body=bodies[m.body] if m.body >= 0 else None,
        state=text_of(m.state) if m.state else None,
        shape=dict(zip(bodies, shape, strict=False)),
        frequency_gradient=by(lib.mbg_modes_frequency_gradient(c, i)),
        damping_gradient=by(lib.mbg_modes_damping_gradient(c, i)),
        eigenvalue_gradient=by(lib.mbg_modes_eigenvalue_gradient(c, i, 0), lib.mbg_modes_eigenvalue_gradient(c, i, 1)),
    )


def _fit_start(r: Any, n: int) -> FitStart:
    message = text_of(lib.mbg_identify_reason_text(r.reason))
    return record(FitStart, r, parameters=array_of(r.parameters, n), message=message)


def _parameter_indices(done: Compiled, names: Sequence[str]) -> list[int]:
    found: list[int] = []
    for name in names:
        first, count = done.layout.groups.get(name, (0, 0))
        if count > 0:
            found.extend(range(first, first + count))
            continue
        found.append(lib.mbg_model_parameter_find(done.c, str(name).encode()))
        if found[-1] < 0:
            raise InputError(f"by: no parameter '{name}'{did_you_mean(str(name), list(done.layout.groups))}")
    return found


def _linear_options(
    inputs: Sequence[str] | None, outputs: Sequence[str] | None, coordinates: Sequence[str]
) -> tuple[Any, list[Any]]:
    """Options with their names, and what must live as long as they do."""
    options = ffi.new("mbg_linearize_options *")
    lib.mbg_linearize_options_default(options, ffi.sizeof("mbg_linearize_options"))
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
    return options, keep


def _create_linear(
    source: Problems | Run,
    p: FloatArray | None,
    at: str,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    coordinates: Sequence[str],
    by: Sequence[str],
) -> Any:
    done: Compiled = source._compile() if isinstance(source, Problems) else source._compiled
    options, keep = _linear_options(inputs, outputs, coordinates)
    options.at = lib.mbg_linearize_at_find(at.encode())
    options.parameters = ffi.NULL if p is None else doubles(p)
    index = _parameter_indices(done, by)
    keep.append(ffi.new("int[]", index or [0]))
    options.by, options.nby, options.gradient = keep[-1], len(index), bool(index)
    out = ffi.new("mbg_linearize **")
    with context() as ctx:
        if isinstance(source, Problems):
            check(ctx, lib.mbg_linearize_create(ctx, done.c, options, out))
        else:
            with source._lock:
                options.run = source._live().c
                check(ctx, lib.mbg_linearize_create(ctx, done.c, options, out))
    return held(out[0], lib.mbg_linearize_destroy, done)


def _create_transitions(
    source: Run,
    interval: float,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    coordinates: Sequence[str],
) -> Any:
    options, keep = _linear_options(inputs, outputs, coordinates)
    out = ffi.new("mbg_transitions **")
    with context() as ctx, source._lock:
        run = source._live()
        run.options.watch.begin()
        check(ctx, lib.mbg_transitions_create(ctx, run.c, options, interval, out), run.options.watch)
    keep.clear()
    return held(out[0], lib.mbg_transitions_destroy, source._compiled)


def transitions_of(
    source: Run,
    interval: float,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    coordinates: Sequence[str],
) -> Transitions:
    """Discrete linear models along a run."""
    length = number("interval", interval)
    result = Held(functools.partial(_create_transitions, source, length, inputs, outputs, coordinates))
    c = result.c
    s = lib.mbg_transitions_get_summary(c)
    n, m, k = s.states, s.inputs, s.outputs
    samples = [lib.mbg_transitions_sample(c, i) for i in range(s.count + 1)]
    shapes = {"A": (n, n), "B": (n, m), "C": (k, n), "D": (k, m)}

    def names(get: Any, count: int) -> list[str]:
        return [text_of(get(samples[0], i).name) for i in range(count)]

    def values(get: Any, count: int) -> FloatArray:
        return np.array([[get(one, i).value for i in range(count)] for one in samples]).reshape(len(samples), count)

    def matrices(which: str) -> FloatArray:
        rows, columns = shapes[which]
        found = np.zeros((s.count, rows, columns))
        for i in range(s.count if rows * columns else 0):
            if which in "AB":
                pointer = lib.mbg_transitions_matrix(c, i, which.encode())
            else:
                pointer = lib.mbg_linearize_matrix(samples[i], which.encode(), ffi.NULL, ffi.NULL)
            found[i] = array_of(pointer, rows * columns).reshape(rows, columns)
        return found

    return Transitions(
        formulation=text_of(s.formulation),
        interval=s.interval,
        states=names(lib.mbg_linearize_state, n),
        inputs=names(lib.mbg_linearize_input, m),
        outputs=names(lib.mbg_linearize_output, k),
        t=np.array([lib.mbg_linearize_get_summary(one).time for one in samples]),
        x=values(lib.mbg_linearize_state, n),
        y=values(lib.mbg_linearize_output, k),
        A=matrices("A"),
        B=matrices("B"),
        C=matrices("C"),
        D=matrices("D"),
        _held=result,
    )


def linear_model(
    source: Problems | Run,
    p: FloatArray | None,
    at: str,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    coordinates: Sequence[str],
    by: Sequence[str],
) -> Linear:
    """Linearize a model at values of its parameters, or a run at its end."""
    result = Held(functools.partial(_create_linear, source, p, at, inputs, outputs, coordinates, by))
    done: Compiled = source._compile() if isinstance(source, Problems) else source._compiled
    return _linear(result, list(done.layout.entries))


def _linear(result: Held, parameters: list[str]) -> Linear:
    c = result.c
    s = lib.mbg_linearize_get_summary(c)
    rows, columns = ffi.new("int *"), ffi.new("int *")

    def matrix(which: str, derivative: int = -1) -> FloatArray:
        pointer = lib.mbg_linearize_matrix(c, which.encode(), rows, columns)
        if derivative >= 0:
            pointer = lib.mbg_linearize_derivative(c, which.encode(), derivative)
        n = rows[0] * columns[0]
        found = np.array(array_of(pointer, n)) if n else np.zeros(0)
        return found.reshape(rows[0], columns[0])

    def names(get: Any, count: int) -> list[Any]:
        return [get(c, i) for i in range(count)]

    states, inputs = names(lib.mbg_linearize_state, s.states), names(lib.mbg_linearize_input, s.inputs)
    outputs = names(lib.mbg_linearize_output, s.outputs)
    re, im = ffi.new("double[]", s.states + 1), ffi.new("double[]", s.states + 1)
    lib.mbg_linearize_poles(c, re, im)
    return Linear(
        at=text_of(lib.mbg_linearize_at_name(s.at)),
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
        derivatives={
            parameters[lib.mbg_linearize_by(c, i)]: {q: matrix(q, i) for q in "ABCD"} for i in range(s.parameters)
        },
        _held=result,
    )
