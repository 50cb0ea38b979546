#!/usr/bin/env python3
"""Which changes of the step generalized-alpha bears: the tables of docs/theory/4-lie-group.md, section 15.

    bench/step_changes.py

In a direction that joints forbid, the increment of a step is given, and a step maps what is left in velocity and
accelerations linearly: q = 0, al <- -(v/h + (1/2 - beta) al)/beta, and so on. The program prints growth factors per
step of that map over sequences of steps: below 1 what is left fades.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class Method:
    name: str
    rho: float  # spectral radius at infinity
    am: float
    af: float

    def step(self, x: list[float], h: float, before: float) -> list[float]:
        """(v, al, vd) after a step of length h that follows one of length `before`."""
        gamma = 0.5 + self.af - self.am
        beta = (gamma + 0.5) ** 2 / 4
        v, al, vd = x
        al = vd + h / before * (al - vd)
        new = -(v / h + (0.5 - beta) * al) / beta
        rate = ((1 - self.am) * new + self.am * al - self.af * vd) / (1 - self.af)
        return [v + h * ((1 - gamma) * al + gamma * new), new, rate]


def lie(rho: float) -> Method:
    return Method(f"lie, rho_inf {rho:g}", rho, (2 * rho - 1) / (rho + 1), rho / (rho + 1))


def dae(af: float) -> Method:
    return Method(f"dae, alpha_f {af:g}", (1 - af) / (1 + af), 0, af)


def norm(columns: list[list[float]], h: float) -> float:
    return math.sqrt(sum(v * v + h * h * (al * al + vd * vd) for v, al, vd in columns))


UNIT = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def periodic(method: Method, steps: list[float], cycles: int = 24) -> float:
    """Growth per step of a sequence that repeats itself."""
    columns, before, total = UNIT, steps[-1], 0.0
    for cycle in range(cycles):
        for h in steps:
            columns = [method.step(x, h, before) for x in columns]
            before = h
        size = norm(columns, before)
        columns = [[a / size for a in x] for x in columns]
        total += math.log(size) if cycle >= cycles // 2 else 0
    return math.exp(total / (cycles - cycles // 2) / len(steps))


def worst(method: Method, ratio: float, width: int = 100) -> float:
    """The largest growth per step that a search finds among sequences whose step may change by 1/ratio, 1 or ratio."""
    beam, total, steps = [(UNIT, 1.0)], 0.0, round(16 / (1 - method.rho))
    for n in range(steps):
        found = []
        for columns, before in beam:
            for factor in (1 / ratio, 1, ratio):
                h = before * factor
                if 1e-3 < h < 1e3:
                    after = [method.step(x, h, before) for x in columns]
                    found.append((norm(after, h), after, h))
        found.sort(key=lambda entry: -entry[0])
        size = found[0][0]
        beam = [([[a / size for a in x] for x in columns], h) for _, columns, h in found[:width]]
        total += math.log(size) if n >= steps // 2 else 0
    return math.exp(total / (steps - steps // 2))


def row(name: str, numbers: list[float]) -> None:
    print(f"{name:24s}" + "".join(f"{x:8.3f}" for x in numbers))


def main() -> None:
    lengths = (1, 2, 4, 6, 8, 10, 20)
    print("rho_inf 0.8: n steps, n steps of the other length\n" + f"{'ratio':24s}" + "".join(f"{n:8d}" for n in lengths))
    for ratio in (1.1, 1.5, 2, 3, 5, 10):
        row(f"{ratio:g}", [periodic(lie(0.8), [1.0] * n + [ratio] * n) for n in lengths])
    methods = [lie(0.6), lie(0.8), lie(0.9), lie(0.95), lie(0.98), dae(0.1), dae(0.02)]
    print("\nany sequence of ratios within 1/g and g; then g at every step after a drop by R, again and again")
    print(f"{'g = 1 + (1 - rho)/2':24s}{'g':>8s}{'any':>8s}" + "".join(f"{f'R = {r}':>8s}" for r in (2, 10, 100)))
    for method in methods:
        g = 1 + (1 - method.rho) / 2
        drops = []
        for drop in (2, 10, 100):
            count = round(math.log(drop) / math.log(g))
            drops.append(periodic(method, [g**i for i in range(count + 1)]))
        row(method.name, [g, worst(method, g), *drops])
    print("\ng = 1 + (1 - rho) at every step after a drop by 100, again and again")
    for method in methods:
        g = 2 - method.rho
        count = round(math.log(100) / math.log(g))
        row(method.name, [g, periodic(method, [g**i for i in range(count + 1)])])


if __name__ == "__main__":
    main()
