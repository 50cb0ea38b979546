"""Points in vectors: the numbers of single runs."""

import numpy as np
import pytest

import mbgrad

# a processor without AVX2 warns that points are computed one by one
pytestmark = pytest.mark.filterwarnings("ignore::mbgrad.MbgradWarning")


def test_sweep_is_the_same(five_bar):
    points = {"k1": np.linspace(80, 120, 9), "m2": np.array([1.0, 1.1, 1.2, -1, 1.4, 1.5, 1.6, 1.7, 1.8])}
    one = five_bar.sweep(points=points, end=0.1)
    four = five_bar.sweep(points=points, end=0.1, ensemble=True)
    for name in one:
        assert np.array_equal(np.asarray(one[name]), np.asarray(four[name]), equal_nan=name != "status")


def test_batch_is_the_same(five_bar):
    k1 = {"k1": np.linspace(90, 110, 70)}
    one = five_bar.batch(k1, gradient=False, end=0.05)
    for workers in (1, 2):
        four = five_bar.batch(k1, gradient=False, end=0.05, ensemble=True, workers=workers)
        assert np.array_equal(one.values, four.values)


def test_refused(five_bar):
    with pytest.raises(mbgrad.Error, match="fixed steps"):
        five_bar.sweep(k1=[80, 120], end=0.1, formulation="lie", tolerance=1e-6, ensemble=True)
    with pytest.raises(ValueError, match="method"):
        five_bar.sweep(k1=[80, 120], end=0.1, method="direct", ensemble=True)


def test_one_by_one_with_a_warning(five_bar):
    one = five_bar.sweep(k1=[80, 120], end=0.1, formulation="lie", step=0.01)
    with pytest.warns(mbgrad.MbgradWarning, match="points are computed one by one, because"):
        same = five_bar.sweep(k1=[80, 120], end=0.1, formulation="lie", step=0.01, ensemble=True)
    assert all(np.array_equal(np.asarray(one[name]), np.asarray(same[name])) for name in one)
