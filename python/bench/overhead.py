"""What Python adds to a gradient: calls of the package against the same calls of the library in C.

five-bar over a few steps, so that the simulation itself is short. Prints microseconds a call, the quickest of many: of
C alone (one function of the module that makes the calls of the library), of the package, and their difference.
"""

import sys
import time

import numpy as np
from mbgrad._mbgrad import ffi, lib

import mbgrad
from mbgrad._compiled import NativeRun
from mbgrad._native import RunOptions, Watch, context


def best(call, calls=3000):
    """Microseconds of the quickest of many calls: other programs do not count."""
    least = float("inf")
    for _ in range(calls):
        begin = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - begin)
    return 1e6 * least


def main():
    model = mbgrad.load("five-bar")
    settings = {"end": 0.01, "method": "adjoint"}
    compiled, method = model._compile(), lib.MBG_METHOD_ADJOINT
    points = [compiled.nominal.copy(), compiled.nominal * 1.001]
    psi, g = np.empty(1), np.empty((1, 8))
    psi_c, g_c = ffi.from_buffer("double[]", psi), ffi.from_buffer("double[]", g)
    points_c = [ffi.from_buffer("double[]", p) for p in points]
    turn = 0
    with context() as ctx:
        options = RunOptions({"end": 0.01}, Watch())
        run, renewed = NativeRun(compiled, options, ctx), NativeRun(compiled, options, ctx)
        lib.mbg_py_evaluate(ctx, renewed.c, points_c[0], method, psi_c, g_c)

        def c_kept():
            nonlocal turn
            turn = 1 - turn
            lib.mbg_py_evaluate(ctx, run.c, points_c[turn], method, psi_c, g_c)

        def c_renewed():
            lib.mbg_run_renew(ctx, renewed.c)
            lib.mbg_py_evaluate(ctx, renewed.c, points_c[0], method, psi_c, g_c)

        f = model.function("psi", **settings)

        def kept():
            nonlocal turn
            turn = 1 - turn
            f.value_and_grad(points[turn])

        rows = [
            ("function.value_and_grad(x), a run that is kept", c_kept, kept),
            (
                "model.value_and_grad(criterion, x), a renewed run",
                c_renewed,
                lambda: model.value_and_grad("psi", points[0], **settings),
            ),
            (
                "model.value_and_grad(criterion, k1=...), renewed",
                c_renewed,
                lambda: model.value_and_grad("psi", k1=100, **settings),
            ),
        ]
        print(f"{'':52s} {'C':>8s} {'Python':>8s} {'more':>8s}   [us]")
        more = []
        for name, c, python in rows:
            a, b = best(c), best(python)
            more.append(b - a)
            print(f"{name:52s} {a:8.1f} {b:8.1f} {b - a:8.1f}")
    sys.exit(0 if max(more) <= 20 else "more than 20 us")


if __name__ == "__main__":
    main()
