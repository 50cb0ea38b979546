"""Closed loops of the gallery: eigenvalues, linear models and gradients against equations of motion that are written
out here and integrated by SciPy."""

import json
import pathlib
import re

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import mbgrad

G = 9.81


def pendulum(y, M=1, m=0.2, a=0.5, d=0.3, T=0.02, k=(-10, 68.2, -11.5, 17.5)):
    """Rates of (x, phi, v, w, F) of the inverted pendulum."""
    x, phi, v, w, F = y
    J = m * a**2 / 3 + m * a**2
    c = m * a * np.cos(phi)
    rhs = F - d * v - m * a * w**2 * np.sin(phi), m * G * a * np.sin(phi)
    det = (M + m) * J - c**2
    wish = -(k[0] * x + k[1] * phi + k[2] * v + k[3] * w)
    return np.array([v, w, (J * rhs[0] + c * rhs[1]) / det, (c * rhs[0] + (M + m) * rhs[1]) / det, (wish - F) / T])


def crane(y, mt=8, ml=4, l=1.2, c=3, kp=60, ki=12, kd=55, ks=40, Tf=0.05, Ta=0.08, um=90, xr=1):  # noqa: E741
    """Rates of (x, swing, v, w, integral, filtered, F) of the crane."""
    x, phi, v, w, integral, filtered, F = y
    J = 0.15 + ml * l**2
    b = ml * l * np.cos(phi)
    rhs = F - c * v + ml * l * w**2 * np.sin(phi), -ml * G * l * np.sin(phi)
    det = (mt + ml) * J - b**2
    e = xr - x
    pid = kp * e + integral + kd * (e - filtered) / Tf
    wish = um * np.tanh((pid + ks * phi) / um)
    accelerations = [(J * rhs[0] - b * rhs[1]) / det, (-b * rhs[0] + (mt + ml) * rhs[1]) / det]
    return np.array([v, w, *accelerations, ki * e, (e - filtered) / Tf, (wish - F) / Ta])


# equations, number of states, parameters to vary; the equilibrium is 0 when the crane has its target there
CASES = {
    "inverted-pendulum": (pendulum, 5, {}, ["M", "m", "a", "T"]),
    "crane-pid": (crane, 7, {"xr": 0.0}, ["mt", "l", "kp", "ki", "kd", "Ta"]),
}


def jacobian(rates, n, **values):
    """At the equilibrium 0, by complex step."""
    columns = []
    for i in range(n):
        z = np.zeros(n, dtype=complex)
        z[i] = 1e-30j
        columns.append(rates(z, **values).imag / 1e-30)
    return np.array(columns).T


def same(found, expected, tolerance):
    """Each eigenvalue has its nearest partner."""
    found, expected = list(found), list(expected)
    assert len(found) == len(expected)
    for s in expected:
        k = int(np.argmin([abs(s - x) for x in found]))
        assert abs(found.pop(k) - s) <= tolerance * max(1, abs(s))


def eigenvalues(modes):
    """A mode that oscillates stands for a pair."""
    values = []
    for mode in modes:
        values.append(mode.eigenvalue)
        if mode.eigenvalue.imag != 0:
            values.append(mode.eigenvalue.conjugate())
    return values


@pytest.mark.parametrize("name", CASES)
def test_eigenvalues(name):
    rates, n, at, _ = CASES[name]
    model = mbgrad.load(name)
    linear, modes = model.linearize(**at), model.modes(count=20, **at)
    expected = scipy.linalg.eigvals(jacobian(rates, n, **at))
    assert max(expected.real) < 0
    same(linear.poles, expected, 1e-9)
    same(scipy.linalg.eigvals(linear.A), linear.poles, 1e-9)
    same(eigenvalues(modes), expected, 1e-9)


def flow(rates, y, time, **values):
    """The motion after a time, by Dormand-Prince of order 8."""
    run = scipy.integrate.solve_ivp(lambda _, x: rates(x, **values), (0, time), y, "DOP853", rtol=1e-13, atol=1e-18)
    return run.y[:, -1]


def transition(rates, n, time, **values):
    """Derivative of the motion after a time by its start, about the equilibrium 0: differences of order 6."""
    columns = []
    for i in range(n):
        ends = {k: flow(rates, 5e-4 * k * np.eye(n)[i], time, **values) for k in (-3, -2, -1, 1, 2, 3)}
        columns.append((45 * (ends[1] - ends[-1]) - 9 * (ends[2] - ends[-2]) + ends[3] - ends[-3]) / (60 * 5e-4))
    return np.array(columns).T


@pytest.mark.parametrize("name", CASES)
def test_eigenvalues_by_simulation(name):
    """Multipliers of a simulation over 0.02 s are exp(0.02 s): poles by differences of runs alone."""
    rates, n, at, _ = CASES[name]
    linear = mbgrad.load(name).linearize(**at)
    multipliers = scipy.linalg.eigvals(transition(rates, n, 0.02, **at))
    same(np.log(multipliers.astype(complex)) / 0.02, linear.poles, 1e-9)


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    """1e-7: differences of order 4 with a step of 2e-4."""
    rates, n, at, names = CASES[name]
    model = mbgrad.load(name)
    for mode in model.modes(count=20, gradient=True, **at):
        for p in names:
            value = model.parameters[p]
            near = []
            for step in (-2, -1, 1, 2):
                s = scipy.linalg.eigvals(jacobian(rates, n, **at, **{p: value * (1 + 2e-4 * step)}))
                near.append(s[np.argmin(abs(s - mode.eigenvalue))])
            slope = (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (2.4e-3 * value)
            assert abs(mode.eigenvalue_gradient[p] - slope) <= 1e-7 * max(abs(slope), abs(mode.eigenvalue / value))


def test_feedback_from_linear_model():
    """The gains of the pendulum are the linear-quadratic regulator of its linear model, rounded."""
    model = mbgrad.load("inverted-pendulum")
    linear = model.linearize(at="start", k=[0, 0, 0, 0], x0=0, phi0=0)
    A, B = linear.A[:4, :4], linear.A[:4, 4:]
    P = scipy.linalg.solve_continuous_are(A, B, np.diag([10.0, 10, 1, 1]), [[0.1]])
    np.testing.assert_allclose((B.T @ P / 0.1)[0], model.parameters["k"], rtol=5e-3)
    assert max(linear.poles.real) > 1


# ---------------------------------------------------------------------- gradients of the drone

PATH = np.array([[1.5], [-0.8], [1.2]])


def drone(t, y, m, J, arm, drag, air, Tr, kp, kd, kx, kv, hp, hi, hd):
    """Rates of position, velocity, quaternion, angular velocity, filter and integral of the height, rotors and sums
    of the criteria, for several drones at once: columns of y, entries of the parameters."""
    x, v, (a, b, c, d), w, filtered, integral, r = y[:3], y[3:6], y[6:10], y[10:13], y[13], y[14], y[15:19]
    u = min(t / 1.5, 1)
    # attitude: R e_x, R e_z and the last row of R
    ex = np.array([a * a + b * b - c * c - d * d, 2 * (b * c + a * d), 2 * (b * d - a * c)])
    ez = np.array([2 * (b * d + a * c), 2 * (c * d - a * b), a * a - b * b - c * c + d * d])
    yaw, pitch, roll = np.arctan(ex[1] / ex[0]), -np.arcsin(ex[2]), np.arctan(2 * (c * d + a * b) / ez[2])
    # controllers
    error = PATH * (u**3 * (10 - 15 * u + 6 * u**2)) - x
    tx, ty = 0.5 * np.tanh((kx * error[:2] - kv * v[:2]) / 0.5)
    mx = kp * (tx * np.sin(yaw) - ty * np.cos(yaw) - roll) - kd * w[0]
    my = kp * (tx * np.cos(yaw) + ty * np.sin(yaw) - pitch) - kd * w[1]
    mz = -0.3 * yaw - 0.15 * w[2]
    raw = hp * error[2] + integral + hd * (error[2] - filtered) / 0.03
    height = 8 * np.tanh(raw / 8)
    wish = (11 + height) / 4 + np.array([mz, -mz, mz, -mz]) / 0.08 + np.array([-my, mx, my, -mx]) / 0.44
    # rigid body
    force = ez * sum(r) - air * (v - np.array([[0.5], [0], [0]])) - m * np.array([[0], [0], [G]])
    torque = np.array([arm * (r[1] - r[3]), arm * (r[2] - r[0]), drag * (r[0] - r[1] + r[2] - r[3])])
    inertia = J * np.array([[1], [1], [1.8]])
    turn = (torque - np.cross(w, inertia * w, axis=0)) / inertia
    p, q, s = w / 2
    spin = np.array([-b * p - c * q - d * s, a * p + c * s - d * q, a * q - b * s + d * p, a * s + b * q - c * p])
    states = np.array([(error[2] - filtered) / 0.03, hi * error[2] + (height - raw) * hi / hp])
    costs = np.array([sum(error**2), roll**2 + pitch**2, sum(r**2)])
    return np.concatenate([v, force / m, spin, turn, states, (wish - r) / Tr, costs])


def drone_start(values):
    """Turned by 0.3 rad about z and by 0.05 rad about x, rotors at their steady thrusts."""
    n = len(next(iter(values.values())))
    y = np.zeros((22, n), dtype=complex)
    (ca, sa), (cb, sb) = ((np.cos(h), np.sin(h)) for h in (0.15, 0.025))
    y[6:10] = np.array([[ca * cb], [ca * sb], [sa * sb], [sa * cb]])
    y[15:19] = values["Tr"] * drone(0, y, **values)[15:19]
    return y


def drone_end(values):
    """Integrals and position at 3 s; the path has a jump in its third derivative at 1.5 s."""
    y = drone_start(values)
    for piece in ((0, 1.5), (1.5, 3)):
        run = scipy.integrate.solve_ivp(
            lambda t, z: drone(t, z.reshape(22, -1), **values).ravel(),
            piece,
            y.ravel(),
            "DOP853",
            rtol=1e-11,
            atol=1e-13,
        )
        y = run.y[:, -1].reshape(22, -1)
    return np.concatenate([y[19:22], y[:1]])


def test_drone_gradients():
    """Complex step through quaternions and DOP853 of SciPy, one column for each parameter; 1e-8: both tolerances."""
    run = mbgrad.load("drone").simulate(formulation="qr", tolerance=1e-10)
    names = list(run.model.parameters)
    values = {
        p: run.model.parameters[p] * (1 + np.where(np.arange(len(names)) == i, 1e-30j, 0)) for i, p in enumerate(names)
    }
    ends = drone_end(values)
    for row, criterion in zip(ends, ("error", "tilting", "effort", "x_end"), strict=True):
        psi, gradient = row[0].real, run.gradient(criterion, method="adjoint")
        assert abs(run.criteria[criterion] - psi) <= 1e-8 * abs(psi)
        for i, p in enumerate(names):
            exact = row[i].imag / 1e-30
            size = abs(exact) + abs(psi)
            assert abs(gradient[p] * run.model.parameters[p] - exact) <= 1e-8 * size, (criterion, p)


# ---------------------------------------------------------------------- problems with states, the crane of the page


def page_crane() -> dict:
    """The model of the page."""
    page = (pathlib.Path(__file__).parents[2] / "docs" / "states.md").read_text(encoding="utf-8")
    found = re.search(r"`crane\.json`:\n\n```json\n(.*?)```", page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_identify():
    """Gain, lag and filter from samples of a state and of a position, made with other values of them."""
    data, planted = page_crane(), {"kp": 75.0, "Ta": 0.05, "Tf": 0.08}
    run = mbgrad.load(data).simulate(**planted)
    data["criteria"] = {
        f"fit_{name}": {"least_squares": name, "data": {"time": list(run.t), "value": list(run[name])}}
        for name in ("F", "X")
    }
    data["identify"] = {"parameters": list(planted)}
    for name in planted:
        data["parameters"][name] = {"value": data["parameters"][name], "min": 1e-3, "max": 200}
    result = mbgrad.load(data).identify(bias=False)
    for p in result.fitted:
        assert p.value == pytest.approx(planted[p.name], rel=1e-6)


def test_optimize():
    """Gains that make the error small, with a limit for a state at every step."""
    data = page_crane()
    for name, low, high in (("kp", 10, 200), ("kd", 5, 200)):
        data["parameters"][name] = {"value": data["parameters"][name], "min": low, "max": high}
    data["criteria"]["force"] = {"path": "F", "max": 30}
    data["optimize"] = {"objective": "error", "parameters": ["kp", "kd"], "constraints": {"force": {}}}
    model = mbgrad.load(data)
    result = model.optimize()
    assert result.converged
    best = {p.name: p.value for p in result.optimized}
    run = model.simulate(**best)
    assert max(run["F"]) <= 30 * (1 + 1e-6)
    assert max(model.simulate()["F"]) > 35
    # the multiplier balances both gradients: d error + multiplier d F = 0 for parameters within their bounds
    node = int(np.argmax(run["F"]))
    error, force = run.gradient("error"), run.vjp({"F": np.eye(len(run.t))[node]})
    inside = [
        p for p in ("kp", "kd") if data["parameters"][p]["min"] * 1.001 < best[p] < 0.999 * data["parameters"][p]["max"]
    ]
    assert inside
    for p in inside:
        assert abs(error[p] + result.constraints[0].multiplier * force[p]) <= 2e-3 * abs(error[p])


def test_control():
    """A control behind a lag brings the crane to rest at its target."""
    data = page_crane()
    data["states"] = {"F": {"rate": "(u - F)/Ta", "scale": 100}}
    data["signals"] = {k: data["signals"][k] for k in ("X", "swing", "e")} | {
        "v": {"type": "rate", "joint": "rail"},
        "w": {"type": "rate", "joint": "rope"},
    }
    data["controls"] = {"u": {"times": [0, 2], "values": 0}}
    data["criteria"] = {"finish": {"terminal": "e^2 + swing^2 + v^2 + w^2 + 1e-4*F^2"}}
    data["control"] = {
        "controls": {"u": {"samples": 21, "interpolation": "cubic", "min": -90, "max": 90}},
        "objective": {"finish": 1},
        "effort": 1e-7,
    }
    result = mbgrad.load(data).control()
    assert result.objective_start == pytest.approx(1)
    assert result.converged
    assert result.criteria["finish"] < 1e-7


def test_actuator():
    """An actuator takes states as the force of an expression does."""
    data = page_crane()
    expected = mbgrad.load(data).simulate().criteria["error"]
    data["forces"]["motor"]["type"] = "actuator"
    run = mbgrad.load(data).simulate()
    assert run.criteria["error"] == expected
    assert run.gradient("error")["Ta"] != 0
