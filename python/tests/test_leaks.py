"""Memory stays constant over many loads, runs and failures."""

import ctypes
import gc
import os

import pytest

import mbgrad
from conftest import LONG

ROUNDS = 10_000 if LONG else 400


def memory():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what malloc holds back is no leak
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def one_round(path, bad):
    model = mbgrad.load(path)
    run = model.simulate(end=0.02)
    run["x2"], run.frames["rod1"].position, run.gradient()
    model.value_and_grad(end=0.02, k1=120)
    f = model.function("psi", wrt="k1", end=0.02)
    f.value_and_grad([101.0])
    for call in (
        lambda: mbgrad.load(bad),
        lambda: model.simulate(m1=-1),
        lambda: model.simulate(step=0.5),
        lambda: model.value("psy"),
    ):
        with pytest.raises((mbgrad.Error, TypeError)):
            call()


def test_memory_is_constant(tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text('{"mbgrad": 1, "bodies": {"a": {"mas": 1}}}')
    used = []
    for _ in range(10):
        for _ in range(ROUNDS // 10):
            one_round("five-bar", bad)
        used.append(memory())
    # after two blocks everything is warm. A lost run would cost 20 kB a round
    assert min(used[6:]) - min(used[2:6]) < 1_000_000, used
