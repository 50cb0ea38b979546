"""Closed loops of the gallery: eigenvalues against equations of motion that are written out here, and against SciPy."""

import numpy as np
import pytest
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
