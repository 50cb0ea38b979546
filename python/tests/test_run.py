"""Runs: arrays without copies, derivatives, tables."""

import copy
import gc
import json
import pickle
import struct

import numpy as np
import pytest

import mbgrad
from mbgrad import ConvergenceError, InputError, UnsupportedError


@pytest.fixture(scope="module")
def run(five_bar):
    return five_bar.simulate(k1=250, end=0.5)


def test_signals(run):
    assert list(run) == ["x2", "y2", "E"]
    assert len(run) == 3
    assert run.t[0] == 0
    assert run.t[-1] == pytest.approx(0.5)
    assert run["x2"].shape == run.t.shape == (101,)
    assert run.parameters["k1"] == 250
    assert run.criteria == {"psi": run.model.value(k1=250, end=0.5)}
    assert "x2" in run
    assert np.ptp(run["E"]) < 1e-3
    assert "five-bar" in repr(run)
    with pytest.raises(KeyError, match="no signal 'phi'"):
        run["phi"]


def test_arrays_are_views_that_outlive_the_run(five_bar):
    run = five_bar.simulate(end=0.1)
    x, t, rotation = run["x2"], run.t, run.frames["rod1"].rotation
    assert not x.flags.owndata
    assert not x.flags.writeable
    assert np.shares_memory(x, run["x2"])
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    kept = x.copy(), t.copy(), rotation.copy()
    del run
    gc.collect()
    others = [five_bar.simulate(end=0.1, k1=50 + i) for i in range(5)]
    assert (x == kept[0]).all()
    assert (t == kept[1]).all()
    assert (rotation == kept[2]).all()
    assert len(others) == 5


def test_frames(run):
    frame = run.frames["rod1"]
    assert list(run.frames) == ["rod1", "rod2", "rod3", "rod4"]
    assert frame.position.shape == (101, 3)
    assert np.allclose(frame.rotation @ frame.rotation.swapaxes(1, 2), np.eye(3), atol=1e-14)
    # the marker pin2 lies on rod2 at (0.5, -2, 0) in the design configuration, whose frame is at (-0.25, -1.5, 0)
    rod2 = run.frames["rod2"]
    pin = rod2.position + rod2.rotation @ np.array([0.75, -0.5, 0])
    assert np.allclose(pin[:, 0], run["x2"], atol=1e-12)
    world = np.einsum("nij,nj->ni", frame.rotation, frame.velocity)
    h = run.t[1]
    assert np.allclose(np.gradient(frame.position, h, axis=0)[5:-5], world[5:-5], atol=0.02)
    assert frame.matrix.shape == (101, 4, 4)
    with pytest.raises(KeyError, match="did you mean 'rod1'"):
        run.frames["rod9"]
    with pytest.raises(InputError, match="poses=True"):
        run.model.simulate(poses=False, end=0.1).frames["rod1"]


def test_derivatives(run, five_bar):
    value, gradient = five_bar.value_and_grad("psi", k1=250, end=0.5)
    assert value == run.criteria["psi"]
    assert run.gradient("psi") == gradient
    for method in ("direct", "adjoint"):
        assert np.allclose(run.gradient(method=method).array, gradient.array, rtol=1e-9)
    assert run.jacobian().shape == (1, 8)
    with pytest.raises(UnsupportedError, match="continuous"):
        run.gradient(method="continuous")
    with pytest.raises(InputError, match="no method"):
        run.gradient(method="magic")


def test_signals_differentiate(five_bar, run):
    h, k = 1e-3, list(run.parameters.names).index("k1")
    plus, minus = (five_bar.simulate(k1=250 + s * h, end=0.5)["x2"] for s in (1, -1))
    dy = run.sensitivity("x2")
    assert dy.shape == (101, 8)
    # central differences: error of rounding 1e-16 / h
    assert np.allclose(dy[:, k], (plus - minus) / (2 * h), atol=1e-10)
    w = np.random.default_rng(1).normal(size=101)
    # adjoint against direct differentiation
    assert np.allclose(run.vjp({"x2": w}).array, w @ dy, rtol=1e-9, atol=1e-15)
    both = run.vjp({"x2": w, "y2": 2 * w}).array
    assert np.allclose(both, w @ dy + 2 * w @ run.sensitivity("y2"), rtol=1e-9, atol=1e-15)
    direct = run.vjp({"x2": w, "y2": 2 * w}, method="direct").array
    assert np.allclose(direct, both, rtol=1e-9, atol=1e-15)
    along = run.jvp({"k1": 2.0})
    assert np.allclose(along["x2"], 2 * dy[:, k], rtol=1e-12, atol=1e-18)
    assert np.allclose(run.jvp(np.ones(8))["x2"], dy.sum(1), rtol=1e-10, atol=1e-15)
    with pytest.raises(ValueError, match="expected an array of shape"):
        run.vjp({"x2": w[1:]})
    with pytest.raises(KeyError):
        run.vjp({"phi": w})


def test_frames_differentiate():
    model = mbgrad.load("five-bar")
    h = 1e-5 * model.parameters["L01"]
    runs = [model.simulate(end=0.5, L01=model.parameters["L01"] + d) for d in (0, h, -h)]
    dx = runs[0].frame_sensitivity("rod1")
    assert dx.shape == (len(runs[0].t), 6, len(model.parameters))
    frames = [run.frames["rod1"] for run in runs]
    k = list(model.parameters).index("L01")
    world = np.einsum("nij,nj->ni", frames[0].rotation, dx[:, :3, k])
    difference = (frames[1].position - frames[2].position) / (2 * h)
    assert np.allclose(world, difference, rtol=1e-6, atol=1e-7)  # central differences: (1e-5)^2 and rounding
    turned = np.einsum("nji,njk->nik", frames[0].rotation, frames[1].rotation - frames[2].rotation) / (2 * h)
    assert np.allclose(dx[:, 5, k], turned[:, 1, 0], rtol=1e-6, atol=1e-7)
    with pytest.raises(KeyError, match="rod1"):
        runs[0].frame_sensitivity("rod")


def test_start_differentiates(run):
    rng = np.random.default_rng(2)
    w = rng.normal(size=101)
    gradient, start = run.vjp({"x2": w}, initial=True)
    assert np.allclose(gradient.array, run.vjp({"x2": w}).array, rtol=1e-12)
    assert len(start) == 4 * 12
    change = {name: rng.normal() for name in start}
    along = run.jvp(initial=change)
    assert np.isclose(w @ along["x2"], sum(start[k] * change[k] for k in start), rtol=1e-9)
    both = run.jvp({"k1": 2.0}, initial=change)
    assert np.allclose(both["x2"], along["x2"] + run.jvp({"k1": 2.0})["x2"], rtol=1e-9, atol=1e-12)
    m = np.zeros((101, 4, 4))
    m[:, 0, 3] = w
    origin = run.vjp({}, frames={"rod1": m})
    h = 1e-3
    plus, minus = (run.model.simulate(k1=250 + s * h, end=0.5).frames["rod1"].position[:, 0] @ w for s in (1, -1))
    assert np.isclose(origin["k1"], (plus - minus) / (2 * h), rtol=1e-5, atol=1e-9)
    with pytest.raises(KeyError, match=r"no change 'rod9\.x' of the start"):
        run.jvp(initial={"rod9.x": 1.0})
    with pytest.raises(InputError, match="need the adjoint"):
        run.vjp({"x2": w}, method="direct", initial=True)


def test_attributes_and_error(run):
    ranked = run.attributes("psi")
    assert len(ranked) > 50
    assert abs(ranked[0].effect) >= abs(ranked[1].effect)
    k1 = next(a for a in ranked if "spring1" in a.owner and a.key == "stiffness")
    assert k1.derivative == pytest.approx(run.gradient()["k1"], rel=1e-9)
    error = run.error()["psi"]
    assert 0 < error.value_relative < 1e-3
    assert error.gradient.names == run.parameters.names
    assert run.error(gradient=False)["psi"].gradient is None


def test_restart(five_bar, tmp_path, run):
    run.save_state(tmp_path / "state.json")
    more = five_bar.simulate(k1=250, end=1, restart=tmp_path / "state.json")
    assert more.t[0] == run.t[-1]
    assert more["x2"][0] == pytest.approx(run["x2"][-1], abs=1e-12)
    with pytest.raises(mbgrad.Error):
        more.gradient()
    state = tmp_path / "state.json"
    again, up, down = (five_bar.simulate(k1=k, end=1, restart=state, fresh=True) for k in (250, 250.1, 249.9))
    difference = (up.criteria["psi"] - down.criteria["psi"]) / 0.2
    assert again.gradient()["k1"] == pytest.approx(difference, rel=1e-5)


def test_pickle(run):
    again = pickle.loads(pickle.dumps(run))
    assert (again["x2"] == run["x2"]).all()
    assert (again.frames["rod1"].position == run.frames["rod1"].position).all()
    assert again.criteria == run.criteria
    assert again.gradient() == run.gradient()
    assert copy.copy(run)["x2"].shape == (101,)


def test_tables(run):
    pandas = pytest.importorskip("pandas")
    frame = run.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["x2", "y2", "E"]
    assert frame.index.name == "t"
    assert (frame["x2"].to_numpy() == run["x2"]).all()
    xarray = pytest.importorskip("xarray")
    data = run.to_xarray()
    assert isinstance(data, xarray.Dataset)
    assert data["position"].sel(body="rod1").shape == (101, 3)


def test_missing_packages(run, monkeypatch):
    import sys

    from mbgrad._native import need

    for name in ("pandas", "xarray", "matplotlib"):
        monkeypatch.setitem(sys.modules, name, None)
    for call in (run.to_pandas, run.to_xarray, run.plot):
        with pytest.raises(ImportError, match=r"needs the package \w+: pip install"):
            call()
    with pytest.raises(ImportError, match="pip install nosuch"):
        need("nosuch.part", "this")


def test_plot(run):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert len(run.plot()) == 3
    ax = run.plot("x2")
    assert ax.get_ylabel() == "x2"
    assert run.plot("x2", "y2", axes=ax) is ax
    import matplotlib.pyplot as plt

    plt.close("all")
    with pytest.raises(KeyError):
        run.plot("x9")


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"k9": 3}, TypeError, "did you mean 'k1'"),
        ({"k1": "a"}, TypeError, "k1: expected a number, not str 'a'"),
        ({"k1": [1, 2]}, TypeError, "k1: expected a number"),
        ({"k1": float("nan")}, ValueError, "k1: nan is not a finite number"),
        ({"k1": None}, TypeError, "k1: expected a number"),
        ({"m1": -1}, InputError, "mass"),
        ({"step": "small"}, TypeError, "step: expected a number"),
        ({"step": -1.0}, InputError, "step"),
        ({"threads": 1.5}, TypeError, "threads: expected a whole number"),
        ({"threads": 10**20}, ValueError, "out of range"),
        ({"formulation": 3}, TypeError, "formulation: expected a text"),
        ({"formulation": "li"}, InputError, "did you mean 'lie'"),
        ({"parameters": [1, 2]}, ValueError, "expected an array of shape (8,), not (2,)"),
        ({"parameters": ["a"] * 8}, TypeError, "expected an array of real numbers"),
        ({"parameters": {"k9": 3}}, InputError, "did you mean 'k1'"),
        ({"parameters": np.full(8, np.nan)}, ValueError, "finite"),
        ({"parameters": np.ones(8) * 1j}, TypeError, "real numbers"),
        ({"progress": 3}, TypeError, "progress"),
        ({"step": 0.5}, ConvergenceError, "take a smaller step"),
    ],
)
def test_wrong_arguments(five_bar, arguments, kind, message):
    with pytest.raises(kind) as caught:
        five_bar.simulate(**arguments)
    assert message in str(caught.value)


def test_warnings_are_python_warnings():
    model = mbgrad.load("five-bar")
    with pytest.warns(mbgrad.MbgradWarning) as caught:
        model.simulate(step=0.1, k1=1000, k2=1000, end=1, formulation="lie")
    assert caught[0].filename == __file__


def test_progress(five_bar, capsys):
    parts = []
    five_bar.simulate(progress=parts.append, step=1e-4, end=1)
    assert parts == sorted(parts)
    assert parts[-1] == 1
    assert len(parts) > 2

    def broken(part):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        five_bar.simulate(progress=broken, step=1e-4, end=1)
    five_bar.simulate(progress=True, end=0.1)


def test_view(tmp_path):
    run = mbgrad.load("five-bar").simulate(end=0.5)
    page = run.view(tmp_path / "motion.html", gradient=True)
    text = (tmp_path / "motion.html").read_text()
    assert text == page.html
    assert "<title>five-bar</title>" in text
    assert page._repr_html_().startswith("<iframe srcdoc=")
    assert "five-bar" in repr(page)
    assert len(run.view(frames=10).html) < len(run.view().html)
    assert mbgrad.load("five-bar").view(end=0.5, gradient=True).html == page.html
    assert len(run.view(loads=True).html) > len(run.view().html) + 1000
    assert mbgrad.load("five-bar").view(end=0.5, loads=True).html == run.view(loads=True).html
    with pytest.raises(mbgrad.InputError, match="poses=True"):
        mbgrad.load("five-bar").simulate(end=0.1, poses=False).view()
    with pytest.raises(mbgrad.InputError, match="frames is 1"):
        run.view(frames=1)


def test_glb(tmp_path):
    model = mbgrad.load("five-bar")
    run = model.simulate(end=0.1)
    data = run.glb(tmp_path / "motion.glb")
    assert (tmp_path / "motion.glb").read_bytes() == data == model.glb(end=0.1)
    magic, version, length, size, kind = struct.unpack("<4sIII4s", data[:20])
    assert (magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON")
    scene = json.loads(data[20 : 20 + size])
    assert {"rod1", "rod2", "rod3", "rod4"} <= {node.get("name") for node in scene["nodes"]}
    times = scene["accessors"][scene["animations"][0]["samplers"][0]["input"]]
    assert times["max"] == [pytest.approx(0.1)]
    assert len(run.glb(frames=5)) < len(data)
    with pytest.raises(InputError, match="poses=True"):
        model.simulate(end=0.1, poses=False).glb()
    with pytest.raises(InputError, match="frames is 1"):
        run.glb(frames=1)


def test_steps(five_bar):
    run = five_bar.simulate(end=0.1, formulation="lie")
    assert (run.start, run.end, run.controlled) == (0, 0.1, False)
    assert run.step == pytest.approx(np.diff(run.t)[0], rel=1e-12)
    assert run.relative_tolerance == run.absolute_tolerance == 0
    assert run.adjoint_method == "adjoint"
    assert not run.inner.any()
    run = five_bar.simulate(start=0.02, end=0.1, formulation="qr", tolerance=1e-7)
    assert (run.start, run.end, run.controlled) == (0.02, 0.1, True)
    assert np.isnan(run.step)
    assert (run.relative_tolerance, run.absolute_tolerance) == pytest.approx((1e-7, 1e-10))
    # adams has no discrete adjoint: a differential equation is solved backward
    assert five_bar.simulate(end=0.05, formulation="qr", integrator="adams").adjoint_method == "continuous"
    again = pickle.loads(pickle.dumps(run))
    assert (again.start, again.end, again.relative_tolerance) == (0.02, 0.1, run.relative_tolerance)


def test_inner_nodes(five_bar):
    run = five_bar.simulate(end=0.1, formulation="qr", step=0.01)
    ends = run.t[~run.inner]
    np.testing.assert_allclose(ends, np.linspace(0, 0.1, 11), atol=1e-15)
    assert run.inner.sum() == len(run.t) - 11
    assert (pickle.loads(pickle.dumps(run)).inner == run.inner).all()


def test_step_for(five_bar):
    run = five_bar.simulate(end=0.5, formulation="lie")
    assert "psi" in run.error()
    step = run.step_for(1e-4)
    assert step < run.step
    finer = five_bar.simulate(end=0.5, formulation="lie", step=step).error()["psi"]
    assert 2e-5 < max(finer.value_relative, finer.gradient_relative) < 1e-4  # met, and not by far
    # second order: a hundredth of the error takes a tenth of the step
    assert run.step_for(1e-6, "psi") == pytest.approx(0.1 * step, rel=0.02)
    assert run.step_for(1e-4, gradient=False) > step
    with pytest.raises(ValueError, match="accuracy: -1 is not positive"):
        run.step_for(-1)
    with pytest.raises(InputError, match="no criterion 'psy'"):
        run.step_for(1e-4, "psy")


def test_modal():
    model = mbgrad.load("two-arm").copy()
    model.signal("bending", "modal-rate", of="fore", mode=0)
    assert model.modal == {"upper": 2, "fore": 2}
    run = model.simulate(end=0.02)
    found = run.modal["fore"]
    assert found.coordinates.shape == found.rates.shape == (len(run.t), 2)
    assert (found.coordinates[:, 0] == run["bend"]).all()
    assert (found.rates[:, 0] == run["bending"]).all()
    assert (run.modal["upper"].coordinates != found.coordinates).any()
    assert mbgrad.load("five-bar").simulate(end=0.01).modal == {}
    with pytest.raises(InputError, match="poses=True"):
        model.simulate(end=0.01, poses=False).modal  # noqa: B018
