"""How criteria scatter when parameters do."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ._errors import InputError
from ._mbgrad import ffi, lib
from ._native import FloatArray, IndexArray, check, context, doubles

if TYPE_CHECKING:
    from ._compiled import Compiled


@dataclasses.dataclass(frozen=True)
class Uncertainty:
    """Moments of a criterion, by second order in the changes of its parameters.

    Attributes
    ----------
    value : float
        At the nominal parameters: the mean by first order.
    mean, deviation, skewness : float
        By second order.
    linear_deviation : float
        The standard deviation by first order.
    shares : dict
        Part of each parameter in the variance; they add up to 1.
    """

    value: float
    mean: float
    deviation: float
    skewness: float
    linear_deviation: float
    shares: dict[str, float]
    _moments: FloatArray = dataclasses.field(repr=False)

    def factor(self, low: float = -math.inf, high: float = math.inf, deviations: float = 3.0) -> float:
        """Return the largest factor on all deviations at which mean ± ``deviations`` deviations stays within limits."""
        moments = ffi.new("mbg_moments *")
        moments.value, moments.shift, moments.linear, moments.quadratic = self._moments
        return float(lib.mbg_moments_factor(moments, low, high, deviations))


class Scatter:
    """Random changes of parameters, as the library takes them."""

    def __init__(
        self, names: list[str], deviations: FloatArray, uniform: Iterable[str], correlation: ArrayLike | None
    ) -> None:
        n = len(names)
        self.names = names
        self.deviations = np.ascontiguousarray(deviations, dtype=np.float64)
        kinds = np.zeros(n, dtype=np.uint32)
        for name in uniform:
            if name not in names:
                raise InputError(f"'{name}' is uniform, but has no deviation")
            kinds[names.index(name)] = lib.MBG_UNIFORM
        self._kinds = ffi.new("mbg_distribution[]", [int(k) for k in kinds])
        self._correlation = None
        if correlation is not None:
            self._correlation = np.ascontiguousarray(correlation, dtype=np.float64)
            if self._correlation.shape != (n, n):
                raise ValueError(f"correlation: expected an array ({n}, {n}), not {self._correlation.shape}")
        self.c = ffi.new("mbg_scatter *")
        self.c.n = n
        self.c.kind = self._kinds
        self.c.deviation = doubles(self.deviations)
        self.c.correlation = ffi.NULL if self._correlation is None else doubles(self._correlation)

    def moments(self, value: float, gradient: FloatArray, hessian: FloatArray) -> Uncertainty:
        """Return the moments of value + g.x + x.H x/2."""
        out = ffi.new("mbg_moments *")
        share = np.zeros(len(self.names))
        g = np.ascontiguousarray(gradient)
        H = np.ascontiguousarray(hessian)
        with context() as ctx:
            check(ctx, lib.mbg_scatter_moments(ctx, self.c, value, doubles(g), doubles(H), out, doubles(share)))
        variance = out.linear + out.quadratic
        return Uncertainty(
            value=value,
            mean=out.mean,
            deviation=out.deviation,
            skewness=out.skewness,
            linear_deviation=math.sqrt(out.linear),
            shares={k: float(s / variance) if variance > 0 else 0.0 for k, s in zip(self.names, share, strict=True)},
            _moments=np.array([out.value, out.shift, out.linear, out.quadratic]),
        )

    def samples(self, count: int, seed: int) -> FloatArray:
        """Return changes of the parameters, an array (count, parameters)."""
        x = np.zeros((count, len(self.names)))
        with context() as ctx:
            for k in range(count):
                check(ctx, lib.mbg_scatter_sample(ctx, self.c, seed, k, doubles(x[k])))
        return x


def deviations_of(compiled: Compiled) -> tuple[dict[str, float], list[str]]:
    """Return the deviations that a model file gives, and which of its parameters are uniform."""
    deviations = {}
    uniform = []
    for name, i in compiled.layout.entries.items():
        deviation = lib.mbg_model_parameter_deviation(compiled.c, i)
        if deviation > 0:
            deviations[name] = float(deviation)
            if lib.mbg_model_parameter_distribution(compiled.c, i) == lib.MBG_UNIFORM:
                uniform.append(name)
    return deviations, uniform


def scatter_of(
    compiled: Compiled,
    deviations: Mapping[str, float] | None,
    uniform: Iterable[str],
    correlation: ArrayLike | None,
) -> tuple[Scatter, IndexArray]:
    """Return the scatter, from the model file when no deviations are given, and the places of its parameters."""
    if deviations is None:
        deviations, file_uniform = deviations_of(compiled)
        uniform = [*file_uniform, *uniform]
    if not deviations:
        raise InputError("no parameter scatters: give deviations by name, or 'deviation' in the model")
    for name in deviations:
        if isinstance(compiled.layout.subset([name])[1].place(name), slice):
            raise InputError(f"'{name}' is a vector: give deviations of its entries, as '{name}[1]'")
    index, _ = compiled.layout.subset(list(deviations))
    values = np.array([float(d) for d in deviations.values()])
    return Scatter(list(deviations), values, uniform, correlation), index
