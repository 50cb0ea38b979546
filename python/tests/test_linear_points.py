"""Linear models about points that are no equilibria: what `modes` and `linearize` take for eigenvalues there."""

import numpy as np
import pytest

import mbgrad

R, L, J, M, K, X0 = 0.3, 0.7, 0.2, 1.5, 40.0, 0.8


def crank(angle: float, rate: float) -> mbgrad.Model:
    """A crank with inertia, a rod without mass, a slider on a spring."""
    x = R * np.cos(angle) + np.sqrt(L**2 - (R * np.sin(angle)) ** 2)
    return mbgrad.Model(
        {
            "mbgrad": 1,
            "parameters": {"k": K},
            "bodies": {
                "crank": {"motion": "planar", "mass": 1, "inertia": J, "rotate": [["z", angle]]},
                "slider": {"motion": "planar", "mass": M, "inertia": 1, "position": [x, 0, 0]},
            },
            "joints": {
                "axle": {"type": "revolute", "between": ["ground", "crank"], "at": [0, 0, 0]},
                "rail": {"type": "prismatic", "between": ["ground", "slider"], "at": [0, 0, 0], "axis": [1, 0, 0]},
                "rod": {
                    "type": "distance",
                    "between": ["crank", "slider"],
                    "points": [[R, 0, 0], [0, 0, 0]],
                    "length": L,
                },
            },
            "signals": {"X": {"type": "position", "of": "slider", "component": "x"}},
            "forces": {
                "spring": {"type": "expression", "joint": "rail", "force": f"-k*(X - {X0})"},
            },
            "initial": {"pin": {"w": {"joint": "axle", "rate": rate}}},
        }
    )


def slide(angle):
    """X of the slider and its derivatives by the angle of the crank, by complex step and differences of it."""

    def X(a):
        return R * np.cos(a) + np.sqrt(L**2 - (R * np.sin(a)) ** 2)

    def slope(a):
        root = np.sqrt(L**2 - (R * np.sin(a)) ** 2)
        return -R * np.sin(a) - R**2 * np.sin(a) * np.cos(a) / root

    h = 1e-4
    second = slope(angle + 1e-30j).imag / 1e-30
    third = (slope(angle + h + 1e-30j) - slope(angle - h + 1e-30j)).imag / (2 * h * 1e-30)
    return X(angle), slope(angle), second, third


@pytest.mark.parametrize(("angle", "rate"), [(0.7, 0.0), (0.7, 3.0), (2.1, -4.0)])
def test_moving_crank(angle, rate):
    """modes holds the directions of motion, w = L y; linearize turns them with the motion: docs/linearize.md."""
    x, x1, x2, x3 = slide(angle)
    mass, force = J + M * x1**2, K * (x - X0)
    acceleration = -(M * x1 * x2 * rate**2 + x1 * force) / mass
    load = force + M * (x1 * acceleration + x2 * rate**2)
    held = [mass, 0, K * x1**2 + x2 * load]
    more = [0, 2 * M * x1 * x2 * rate, M * x1 * (x2 * acceleration + x3 * rate**2)]
    model = crank(angle, rate)
    modes, linear = model.modes(at="start"), model.linearize(at="start", coordinates=["axle"])
    for s in np.roots(held):
        assert min(abs(s - z) for m in modes for z in (m.eigenvalue, m.eigenvalue.conjugate())) <= 1e-9 * abs(s)
    for s in np.roots(np.add(held, more)):
        assert min(abs(s - linear.poles)) <= 1e-7 * abs(s)
    assert abs(max(abs(linear.poles)) - max(abs(m.eigenvalue) for m in modes)) > 1e-3


# an output, and parameters
CASES = {"five-bar": ("x2", ["k1", "m2"]), "crane-pid": ("x", ["l", "kp", "Ta"])}


@pytest.mark.parametrize("formulation", ["lie", "dae", "dca", "ali3p", "qr"])
@pytest.mark.parametrize("name", CASES)
def test_derivatives_along_a_run(name, formulation):
    """Derivatives about a time of a run against differences of order 4 of runs; 1e-7: their rounding."""
    model, (signal, by) = mbgrad.load(name), CASES[name]
    how = {"formulation": formulation, "end": 0.1}
    how |= {"tolerance": 1e-11} if formulation == "qr" else {"step": 2e-3}

    def linear(**values):
        run = model.simulate(**how, **values)
        return run.linearize(inputs=by[:1], outputs=[signal], by=() if values else by)

    exact = linear()
    for p in by:
        h = 1e-3 * abs(model.parameters[p])
        moved = {k: linear(**{p: model.parameters[p] + k * h}) for k in (-2, -1, 1, 2)}
        for letter in "ABCD":
            y = {k: getattr(moved[k], letter) for k in moved}
            slope = (8 * (y[1] - y[-1]) - (y[2] - y[-2])) / (12 * h)
            size = np.max(np.abs(slope)) + np.max(np.abs(getattr(exact, letter))) / model.parameters[p]
            assert np.max(np.abs(exact.derivatives[p][letter] - slope)) <= 1e-7 * size + 1e-12, (letter, p)
