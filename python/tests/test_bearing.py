"""Friction that follows the load, the bearing of docs/states.md, against equations that are written out here."""

import json
import pathlib
import re

import numpy as np
import pytest
import scipy.integrate

import mbgrad

G, MASS, ARM, INERTIA = 9.81, 2, 0.5, 0.02


def bearing() -> mbgrad.Model:
    """The model of the page."""
    page = (pathlib.Path(__file__).parents[2] / "docs" / "states.md").read_text(encoding="utf-8")
    found = re.search(r"`bearing\.json`:\n\n```json\n(.*?)```", page, re.DOTALL)
    assert found
    return mbgrad.load(json.loads(found[1]))


def accelerated(angle, w, N, mu, radius, T0, slip):
    """Acceleration of the angle, torque of friction and load of the bearing, for a load N in the torque."""
    T = (T0 + mu * radius * N) * np.tanh(w / slip)
    a = (-MASS * G * ARM * np.cos(angle) - T) / (INERTIA + MASS * ARM**2)
    rx = MASS * ARM * (-np.sin(angle) * a - np.cos(angle) * w**2)
    ry = MASS * ARM * (np.cos(angle) * a - np.sin(angle) * w**2) + MASS * G
    return a, T, np.sqrt(rx**2 + ry**2 + 0.01)


def follow(mu, radius, T0, delay, slip):
    """Loss and integral of the squared rate of N after 1 s; delay 0: N is the load itself, found at each instant."""
    n = len(mu)
    given = {"mu": mu, "radius": radius, "T0": T0, "slip": slip}

    def rates(_, y):
        angle, w, N = y.reshape(5, n)[:3]
        for _ in range(0 if delay is not None else 40):  # a contraction: mu radius is small
            N = accelerated(angle, w, N, **given)[2]
        a, T, load = accelerated(angle, w, N, **given)
        rate = (load - N) / delay if delay is not None else 0 * N
        return np.concatenate([w, a, rate, T * w, rate**2])

    start = np.zeros((5, n), dtype=complex)
    start[2] = 1.5
    run = scipy.integrate.solve_ivp(rates, (0, 1), start.ravel(), "DOP853", rtol=1e-11, atol=1e-13)
    return run.y[:, -1].reshape(5, n)[3:]


NAMES = ["mu", "radius", "T0", "delay", "slip"]


def test_gradients():
    """Complex step through DOP853, one column for each parameter; 1e-8: both tolerances."""
    run = bearing().simulate(formulation="qr", tolerance=1e-10)
    p = run.model.parameters
    values = {name: p[name] * (1 + np.where(np.arange(5) == i, 1e-30j, 0)) for i, name in enumerate(NAMES)}
    for row, criterion in zip(follow(**values), ("loss", "lag"), strict=True):
        psi, gradient = row[0].real, run.gradient(criterion, method="adjoint")
        assert abs(run.criteria[criterion] - psi) <= 1e-8 * abs(psi)
        for i, name in enumerate(NAMES):
            exact = row[i].imag / 1e-30
            assert abs(gradient[name] * p[name] - exact) <= 1e-8 * (abs(exact) + abs(psi)), (criterion, name)


def test_implicit():
    """With a short time of the state: the torque of the load at the same instant, off by the first power of it."""
    model = bearing()
    values = {name: np.array([model.parameters[name] + 0j]) for name in NAMES if name != "delay"}
    loss = follow(delay=None, **values)[0, 0].real
    off = [
        model.simulate(formulation="qr", tolerance=1e-10, delay=delay).criteria["loss"] - loss
        for delay in (2e-3, 1e-3, 5e-4)
    ]
    assert off[0] / off[1] == pytest.approx(2, abs=0.15)
    assert off[1] / off[2] == pytest.approx(2, abs=0.075)  # what is left is of second order
    assert abs(off[2]) < 1e-3 * loss
