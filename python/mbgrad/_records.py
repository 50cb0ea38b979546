"""Results as records; the fields of those that come from C have the names of the C structures."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from ._mbgrad import ffi
from ._native import FloatArray, text_of
from ._parameters import Parameters

_T = TypeVar("_T")


def record(cls: type[_T], c: Any, **given: Any) -> _T:
    """Make a record of a C structure; fields that are given are not read from it."""
    values = dict(given)
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        if field.name in values or not field.init:
            continue
        value = getattr(c, field.name)
        if isinstance(value, ffi.CData):
            value = text_of(value) if value else None
        values[field.name] = value
    return cls(**values)


@dataclasses.dataclass(frozen=True, slots=True)
class Work:
    """Work of a run so far."""

    steps: int
    newton_iterations: int
    factorizations: int
    assemblies: int
    solves: int
    recomputed_steps: int
    seconds_simulate: float
    seconds_gradient: float
    peak_bytes: float
    drift_position: float
    drift_velocity: float


@dataclasses.dataclass(frozen=True, slots=True)
class ModalMotion:
    """Modal coordinates of a flexible body at every node of a run.

    Attributes
    ----------
    body : str
    coordinates, rates : numpy.ndarray, (nodes, modes)
    """

    body: str
    coordinates: FloatArray = dataclasses.field(repr=False)
    rates: FloatArray = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Attribute:
    """A number of the model, with the derivative of a criterion by it."""

    owner: str
    key: str
    unit: str
    value: float
    derivative: float
    effect: float


@dataclasses.dataclass(frozen=True, slots=True)
class StepError:
    """Estimated error of the steps in a criterion: its distance from the exact motion.

    Attributes
    ----------
    value, value_relative : float
        Of the value; NAN when it is not known.
    gradient : Parameters or None
        Of each derivative.
    gradient_relative : float
        Of the worst derivative.
    order : float
        The error falls with the step to this power; NAN under error control.
    regular : bool
        False: the estimate is no better than a guess.
    """

    value: float
    value_relative: float
    gradient: Parameters | None
    gradient_relative: float
    order: float
    regular: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Proof:
    """Proof of the gradient of a criterion: Taylor test, direct against adjoint, finite differences.

    Attributes
    ----------
    criterion : str
        Its name.
    value : float
        Its value.
    gradient : Parameters
        Its gradient by the exact adjoint.
    proven : bool
        The gradient is exact for the steps made, by the conditions of ``mbgrad check --gradient``.
    taylor_slope, taylor_decades : float
        Slope of the remainder, 2 for an exact gradient, and the width of its window in decades.
    direct_vs_adjoint : float
        Relative difference of the two gradients.
    finite_difference, finite_difference_step : float
        Best agreement with central differences, and the relative step that reached it.
    eps, remainder : tuple of float
        The points of the Taylor test.
    sequence_eps, sequence_event, sequence_time, sequence_change
        The sequence of events is that of the run at every eps below ``sequence_eps`` (infinite: everywhere). There the
        event of this name is gone, new, or has another place in the order, as ``sequence_change`` says.
    """

    criterion: str
    value: float
    gradient: Parameters
    proven: bool
    taylor_slope: float
    taylor_decades: float
    direct_vs_adjoint: float
    finite_difference: float
    finite_difference_step: float
    eps: tuple[float, ...] = dataclasses.field(repr=False)
    remainder: tuple[float, ...] = dataclasses.field(repr=False)
    sequence_eps: float
    sequence_event: str | None
    sequence_time: float
    sequence_change: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class HessianProof:
    """Proof of the second derivatives of a criterion: Taylor test of third order, differences of gradients, symmetry.

    Attributes
    ----------
    value, curvature : float
        The criterion, and d.H d for the direction of the proof.
    asymmetry : float
        Relative difference of e.H d and d.H e.
    rounding : float
        Rounding of e.H d, measured where the asymmetry is above 1e-11; else 0.
    slope, decades : float
        Slope of the remainder, 3 when the second derivatives are exact, and the width of its window in decades.
    difference_slope, difference_decades : float
        The same of differences of gradients: 2.
    best_difference, best_step : float
        Best agreement with differences of gradients, and the relative step that reached it.
    """

    value: float
    curvature: float
    asymmetry: float
    rounding: float
    slope: float
    decades: float
    difference_slope: float
    difference_decades: float
    best_difference: float
    best_step: float


@dataclasses.dataclass(frozen=True, slots=True)
class Mode:
    """A mode of small vibrations.

    Attributes
    ----------
    kind : str
        ``"oscillation"``, ``"decay"``, ``"zero"`` or ``"unstable"``.
    eigenvalue : complex
        s [1/s].
    frequency : float
        [Hz]; 0 without oscillation.
    damping : float
        Damping ratio.
    body : str or None
        Body with the largest share of the kinetic energy.
    state : str or None
        State of the model with the largest share, where it is no body.
    shape : dict from bodies to arrays (6)
        Displacement and rotation in world axes; complex for a damped mode.
    frequency_gradient, damping_gradient, eigenvalue_gradient : Parameters or None
        Derivatives by the parameters; those of the eigenvalue are complex.
    """

    kind: str
    eigenvalue: complex
    frequency: float
    damping: float
    multiplicity: int
    body: str | None
    state: str | None
    shape: dict[str, Any] = dataclasses.field(repr=False)
    frequency_gradient: Parameters | None = dataclasses.field(repr=False)
    damping_gradient: Parameters | None = dataclasses.field(repr=False)
    eigenvalue_gradient: Parameters | None = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """A line of the picture of a mechanism, between two points fixed on bodies.

    Attributes
    ----------
    kind : str
        ``"body"``, ``"beam"`` or ``"force"``.
    bodies : tuple of two str or None
        The body of each end; None is the ground.
    points : numpy.ndarray, (2, 3)
        The ends in world axes.
    """

    kind: str
    bodies: tuple[str | None, str | None]
    points: FloatArray = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class ParameterResult:
    """An optimized parameter."""

    name: str
    unit: str
    start: float
    value: float
    min: float
    max: float
    at_bound: int
    multiplier: float


@dataclasses.dataclass(frozen=True, slots=True)
class ConstraintResult:
    """One side of one limit of an optimization, in one load case."""

    name: str
    run: str | None
    kind: str
    limit: float
    value: float
    violation: float
    path: bool
    time: float
    multiplier: float


@dataclasses.dataclass(frozen=True, slots=True)
class ActivePoint:
    """A point at which a constraint of an optimization is active.

    Attributes
    ----------
    constraint : int
        Index in the list of constraints.
    time : float
        [s]; NAN when the constraint does not hold at every time step.
    multiplier : float
        Gain of the objective per unit of the limit.
    """

    constraint: int
    time: float
    multiplier: float


@dataclasses.dataclass(frozen=True, slots=True)
class LoadCase:
    """A load case of an optimization: its run, weight, and objective (NAN for one with limits only)."""

    run: str | None
    weight: float
    objective: float


@dataclasses.dataclass(frozen=True, slots=True)
class Design:
    """Values of an optimization at a point.

    Attributes
    ----------
    objective : float
    violation : float
        Largest violation of a limit, in units of its scale.
    gradient : numpy.ndarray or None
        Of the objective; None when it was not asked for, and for the worst of several load cases.
    """

    objective: float
    violation: float
    gradient: FloatArray | None


@dataclasses.dataclass(frozen=True, slots=True)
class Iteration:
    """An iteration of an optimization."""

    objective: float
    violation: float
    optimality: float
    best: float
    step: float


@dataclasses.dataclass(frozen=True, slots=True)
class Shift:
    """How an optimum moves with a number of the model: derivatives by it."""

    owner: str
    key: str
    unit: str
    value: float
    objective: float
    parameters: FloatArray


@dataclasses.dataclass(frozen=True, slots=True)
class FittedParameter:
    """An identified parameter with its standard error."""

    name: str
    unit: str
    start: float
    value: float
    min: float
    max: float
    standard_error: float
    hessian_error: float
    bias: float
    at_bound: int
    determined: bool


@dataclasses.dataclass(frozen=True, slots=True)
class FitStart:
    """What became of a start of a fit.

    Attributes
    ----------
    parameters : numpy.ndarray
        Values of the identified parameters at this start, in their order.
    start_cost, cost : float
        NAN when the simulation failed.
    message : str
        Why the fit ended.
    """

    parameters: FloatArray
    start_cost: float
    cost: float
    message: str
    iterations: int


@dataclasses.dataclass(frozen=True, slots=True)
class Channel:
    """A measured signal of an experiment and its fit."""

    run: str | None
    criterion: str
    samples: int
    missing: int
    outside: int
    rms: float
    chi_square: float
    autocorrelation: float
    white: bool
    hint: str
    time: FloatArray = dataclasses.field(repr=False)
    data: FloatArray = dataclasses.field(repr=False)
    model: FloatArray = dataclasses.field(repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class ControlSamples:
    """Samples of a control that was found."""

    name: str
    interpolation: str
    min: float
    max: float
    times: FloatArray = dataclasses.field(repr=False)
    values: FloatArray = dataclasses.field(repr=False)
