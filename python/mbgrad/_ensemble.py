"""Points in vectors: several samples at a time, with the numbers of single runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._compiled import Compiled
from ._errors import Error
from ._executor import Result, compute_point
from ._mbgrad import ffi, lib
from ._native import FloatArray, RunOptions, Watch, check, context, method_index, text_of, warn

GROUP = 64  # points of a call: each makes its memory anew


def check_settings(done: Compiled, options: dict[str, Any], method: int) -> None:
    """Raise the error of runs that no ensemble takes; warn of those whose points are computed one by one."""
    if method != method_index("auto"):
        raise ValueError("ensemble: the method of differentiation is that of the program, auto")
    with context() as ctx:
        ensemble = _create(ctx, done, RunOptions(options, Watch()))
        reason = text_of(lib.mbg_ensemble_reason(ensemble))
        lib.mbg_ensemble_destroy(ensemble)
    if reason:
        warn(f"ensemble: points are computed one by one, because {reason}")


def _create(ctx: Any, done: Compiled, options: RunOptions) -> Any:
    out = ffi.new("mbg_ensemble **")
    status = lib.mbg_ensemble_create(ctx, done.c, options.c, out)
    if status < 0:
        check(ctx, status)
    lib.mbg_context_clear(ctx)
    return out[0]


def compute_ensemble(
    done: Compiled, p: FloatArray, options: dict[str, Any], rows: Sequence[int], gradient: bool, watch: Watch
) -> list[Result]:
    """Simulate some points in vectors; one that fails is simulated again, for its messages."""
    n, nc = len(p), len(done.criteria)
    psi = np.empty((n, nc))
    g = np.empty((n, nc, done.layout.count)) if gradient else None
    samples = ffi.new("mbg_ensemble_sample[]", n)
    with context() as ctx:
        made = RunOptions(options, watch)
        ensemble = _create(ctx, done, made)
        try:
            check(ctx, lib.mbg_ensemble_select(ctx, ensemble, len(rows), list(rows)))
            status = lib.mbg_ensemble_run(
                ctx,
                ensemble,
                n,
                ffi.from_buffer("double[]", np.ascontiguousarray(p)),
                ffi.from_buffer("double[]", psi),
                ffi.NULL if g is None else ffi.from_buffer("double[]", g),
                samples,
            )
            check(ctx, status, watch)
        finally:
            lib.mbg_ensemble_destroy(ensemble)
    return [_result(i, samples[i], psi, g, done, p, options, rows, gradient) for i in range(n)]


def _result(
    i: int,
    sample: Any,
    psi: FloatArray,
    g: FloatArray | None,
    done: Compiled,
    p: FloatArray,
    options: dict[str, Any],
    rows: Sequence[int],
    gradient: bool,
) -> Result:
    if sample.status < 0:
        again = compute_point(done, p[i], options, rows, method_index("auto"), gradient)
        if again.error is not None:
            return again
        return Result(sample.status, None, None, Error("failed", (), sample.status))
    return Result(2 if sample.warned else 1, psi[i][rows], None if g is None else g[i][rows], None)
