"""Ctrl-C stops everything, and nothing half-computed is used; python/bench/interrupt.py measures how soon."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import mbgrad
from conftest import LONG

ROUNDS = 50 if LONG else 5


def interrupted(call, after):
    """Seconds of work from Ctrl-C to its exception; the time that other programs take does not count."""
    sent = []

    def press():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
        return time.process_time() - sent[0]
    finally:
        timer.join()


@pytest.fixture(scope="module")
def model():
    return mbgrad.load("five-bar")


def check(times):
    assert max(times) < 2  # on a busy machine; the calls take 10 s and more when nothing stops them


def test_simulation(model):
    expected = model.value(end=0.1)
    rng = np.random.default_rng(1)
    times = [interrupted(lambda: model.simulate(step=1e-6), 0.05 + 0.1 * rng.random()) for _ in range(ROUNDS)]
    check(times)
    assert model.value(end=0.1) == expected


def test_gradient(model):
    run = model.simulate(step=2e-3)
    expected = None
    times = []
    for _ in range(ROUNDS):
        times.append(interrupted(lambda: [run.gradient(method="direct") for _ in range(1000)], 0.1))
        gradient = run.gradient() if expected is None else expected
        expected = expected or gradient
    check(times)
    assert run.gradient() == expected


def test_function_goes_on(model):
    f = model.function("psi", wrt="k1", step=2e-3)
    value = f([90.0])
    times = [interrupted(lambda: [f([90.0 + i]) for i in range(1, 1000)], 0.1) for _ in range(3)]
    check(times)
    assert f([90.0]) == value


def test_calls_go_on(model):
    value, gradient = model.value_and_grad("psi", k1=90.0)
    calls = lambda: [model.value_and_grad("psi", k1=90.0 + i) for i in range(1000)]  # noqa: E731
    check([interrupted(calls, 0.05 + 0.013 * i) for i in range(ROUNDS)])
    assert model.value_and_grad("psi", k1=90.0) == (value, gradient)


def test_batch(model):
    x = {"k1": np.linspace(80, 120, 1000)}
    for workers in (1, 3):
        times = [interrupted(lambda n=workers: model.batch(x, workers=n), 0.2) for _ in range(3)]
        check(times)
    f = model.function("psi", wrt="k1", workers=3)
    check([interrupted(lambda: f(np.linspace(80, 120, 1000)[:, None]), 0.3)])
    workers = [t for t in threading.enumerate() if t.name.startswith("mbgrad")]
    for worker in workers:  # they stop after the step at hand
        worker.join(timeout=20)
    assert not [t.name for t in workers if t.is_alive()]


def test_searches(model):
    design = mbgrad.load("five-bar-design")
    check([interrupted(lambda: [design.optimize() for _ in range(1000)], 0.2) for _ in range(3)])
    mount = mbgrad.load("engine-mount")
    check([interrupted(lambda: [mount.identify() for _ in range(1000)], 0.2) for _ in range(2)])
    crane = mbgrad.load("overhead-crane")
    check([interrupted(lambda: [crane.control() for _ in range(1000)], 0.2) for _ in range(2)])
    check([interrupted(lambda: [model.check_gradient(step=1e-4) for _ in range(1000)], 0.2)])


def test_other_signals_and_exceptions(model):
    def handler(number, frame):
        raise TimeoutError("too long")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(TimeoutError, match="too long"):
            model.simulate(step=1e-6)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_interpreter_lock_is_released(model):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    model.simulate(step=5e-4)
    end = time.monotonic()
    stop.set()
    thread.join()
    during = [t for t in ticks if begin < t < end]
    assert len(during) > 3  # with the lock held there would be none


def test_a_call_inside_a_callback(model):
    seen = []
    model.simulate(step=1e-4, end=2, progress=lambda part: seen.append(model.value(end=0.02)))
    assert len(set(seen)) == 1
