"""The five-bar linkage for SUNDIALS: minimal coordinates, elimination by hand, C code by CasADi.

The two cranks are the coordinates; the third pin is the intersection of two circles in closed form. Nothing general is
left in these equations, so CVODES gets the cheapest right-hand side and the cheapest products that this mechanism has.
"""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np

MASSES = (1.0, 1.5, 1.5, 1.0)
LENGTHS = (2.0, 3.25, 3.25, 2.0)  # squares


def pieces(count: int) -> list[int]:
    """Numbers of mass entries of the four rods for ``count`` parameters, two of which are the stiffnesses."""
    rest = count - 2
    return [rest // 4 + (i < rest % 4) for i in range(4)]


def parameters(count: int) -> np.ndarray:
    """Values: k1, k2, then the entries of which the masses are sums."""
    values = [100.0, 100.0]
    for mass, n in zip(MASSES, pieces(count), strict=True):
        values += [mass / max(n, 1)] * n
    return np.array(values)


def _turn(angle: ca.SX, x: float, y: float) -> ca.SX:
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(c * x - s * y, s * x + c * y)


def _third_pin(pin2: ca.SX, support: ca.SX) -> ca.SX:
    d = support - pin2
    square = ca.dot(d, d)
    along = (LENGTHS[2] - LENGTHS[3] + square) / (2 * square)
    across = ca.sqrt(LENGTHS[2] / square - along**2)
    return pin2 + along * d + across * ca.vertcat(d[1], -d[0])


def _angle(v: ca.SX) -> ca.SX:
    return ca.atan2(v[1], v[0])


def equations(count: int) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    """State y = (angles, rates), parameters p, y' = f(y, p) and the integrand g(y)."""
    q, v, p = ca.SX.sym("q", 2), ca.SX.sym("v", 2), ca.SX.sym("p", count)
    support = ca.SX([1, 0])
    pin1 = _turn(q[0], -1, -1)
    pin2 = pin1 + _turn(q[1], 1.5, -1)
    pin3 = _third_pin(pin2, support)
    centres = [pin1 / 2, (pin1 + pin2) / 2, (pin2 + pin3) / 2, (pin3 + support) / 2]
    angles = [q[0], q[1], _angle(pin3 - pin2), _angle(support - pin3)]
    masses, at = [], 2
    for mass, n in zip(MASSES, pieces(count), strict=True):
        masses.append(ca.sum1(p[at : at + n]) if n else ca.SX(mass))
        at += n
    place = ca.vertcat(*[ca.vertcat(c, a) for c, a in zip(centres, angles, strict=True)])
    inertia = ca.vertcat(*[ca.vertcat(m, m, m * s / 12) for m, s in zip(masses, LENGTHS, strict=True)])
    potential = sum(9.81 * m * c[1] for m, c in zip(masses, centres, strict=True))
    for stiffness, pin, rest in ((p[0], pin1, 5**0.5), (p[1], pin2, 4.25**0.5)):
        potential += stiffness * (ca.norm_2(pin - support) - rest) ** 2 / 2
    jacobian = ca.jacobian(place, q)
    bias = ca.jtimes(ca.jtimes(place, q, v), q, v)
    mass = jacobian.T @ (inertia * jacobian)
    force = -ca.gradient(potential, q) - jacobian.T @ (inertia * bias)
    det = mass[0, 0] * mass[1, 1] - mass[0, 1] ** 2
    rate = (
        ca.vertcat(mass[1, 1] * force[0] - mass[0, 1] * force[1], mass[0, 0] * force[1] - mass[0, 1] * force[0]) / det
    )
    y = ca.vertcat(q, v)
    return y, p, ca.vertcat(v, rate), (pin2[0] - 0.5) ** 2 + (pin2[1] + 2) ** 2


def write(folder: Path, count: int) -> None:
    """C functions: rhs, integrand, backward right-hand side and its quadratures, Jacobian."""
    y, p, f, g = equations(count)
    w = ca.SX.sym("w", 4)
    product = ca.jtimes(f, y, w, True) + ca.gradient(g, y)
    functions = [
        ca.Function("five_bar_rate", [y, p], [f]),
        ca.Function("five_bar_integrand", [y, p], [g]),
        ca.Function("five_bar_back", [y, p, w], [-product]),
        ca.Function("five_bar_sum", [y, p, w], [-ca.jtimes(f, p, w, True)]),
        ca.Function("five_bar_jacobian", [y, p], [ca.densify(ca.jacobian(f, y))]),
    ]
    code = ca.CodeGenerator("five_bar_code.c", {"with_header": False, "casadi_int": "int"})
    for function in functions:
        code.add(function)
    code.generate(f"{folder}/")


def model(count: int) -> dict:
    """The same mechanism as a model of mbgrad."""
    import mbgrad

    data = mbgrad.load("five-bar").to_dict()
    values = {"k1": data["parameters"]["k1"], "k2": data["parameters"]["k2"]}
    constants = {k: data["parameters"][k]["value"] for k in ("L01", "L02")}
    parts = pieces(count)
    for i, n in enumerate(parts):
        if n:
            values[f"w{i + 1}"] = {"value": MASSES[i] / n, "count": n, "min": 1e-4, "max": 10}
            constants[f"m{i + 1}"] = " + ".join(f"w{i + 1}[{k}]" for k in range(n))
        else:
            constants[f"m{i + 1}"] = MASSES[i]
    data["parameters"], data["constants"] = values, constants
    return data
