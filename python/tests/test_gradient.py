"""Values, gradients, functions, batches, threads."""

import concurrent.futures
import pickle

import numpy as np
import pytest

import mbgrad
from mbgrad import InputError


def test_by_name_and_by_array(quick):
    value, gradient = quick.value_and_grad("psi", k1=250)
    assert isinstance(value, float)
    assert isinstance(gradient, mbgrad.Parameters)
    x = quick.parameters.array.copy()
    x[2] = 250
    same, array = quick.value_and_grad("psi", x)
    assert (same, type(array)) == (value, np.ndarray)
    assert (array == np.asarray(gradient)).all()
    part = quick.value_and_grad("psi", [250, 80], wrt=["k1", "k2"])
    other = quick.value_and_grad("psi", parameters={"k1": 250, "k2": 80}, wrt=["k1", "k2"])
    assert part[0] == other[0]
    assert list(other[1]) == ["k1", "k2"]
    assert (part[1] == other[1].array).all()
    assert quick.value("psi", k1=250) == value
    assert quick.grad(k1=250) == gradient
    assert (quick.jacobian(k1=250)[0] == array).all()
    assert quick.jacobian(["psi"], [1.0], wrt="m1").shape == (1, 1)
    assert "k1" in repr(gradient)


def test_calls_do_not_depend_on_each_other():
    # steps under error control, redundant rows, fixed steps: each call is as by a new run
    rng = np.random.default_rng(3)
    for name, end in (("torsional-pendulum", 0.5), ("bricard", 0.05), ("five-bar", 0.05)):
        model = mbgrad.load(name)
        criterion = model.criteria[0]
        for _ in range(4):
            x = model.parameters.array * rng.uniform(0.98, 1.02, len(model.parameters.array))
            run = model.simulate(x, end=end)
            value, gradient = model.value_and_grad(criterion, x, end=end)
            assert value == run.criteria[criterion]
            assert (gradient == run.gradient(criterion).array).all()
            assert model.value(criterion, x, end=end) == value


def test_calls_share_runs():
    model = mbgrad.load("five-bar").copy()
    first = model.value_and_grad("psi", end=0.02)
    done = model._compile()
    ((waiting,),) = done.slots.values()
    assert model.value_and_grad("psi", end=0.02) == first
    assert list(done.slots.values()) == [[waiting]]  # the same run
    with pytest.raises(InputError, match="mass"):
        model.value("psi", end=0.02, m1=-1.0)
    assert list(done.slots.values()) == [[]]  # what failed is not used again
    assert model.value_and_grad("psi", end=0.02) == first
    for k in range(20):  # options are not kept forever
        model.value("psi", end=0.02 + 0.01 * k)
    assert len(done.slots) <= 8
    with pytest.raises(TypeError, match="end: expected a number"):
        model.value("psi", end=[1])
    model.constant("unused", 1)
    assert model._compile().slots == {}
    assert model.value_and_grad("psi", end=0.02)[0] == first[0]
    assert pickle.loads(pickle.dumps(model)).value_and_grad("psi", end=0.02) == first


def test_warnings_come_with_every_call():
    model = mbgrad.load("five-bar")
    for _ in range(3):
        with pytest.warns(mbgrad.MbgradWarning):
            model.value("psi", step=0.1, k1=1000.0, k2=1000.0, end=1, formulation="lie")
        model.value("psi", step=0.01, end=0.05, formulation="lie")


def test_vector_parameters():
    model = mbgrad.load("slider-crank-topology")
    p = model.parameters
    assert p["xc"].shape == (1000,)
    entry = p.names[3]
    assert p[entry] == 0.5
    vector = model._compile().vector({"xc": 0.25, entry: 0.75})
    assert vector[0] == 0.25
    assert vector[3] == 0.75
    with pytest.raises(ValueError, match=r"shape \(1000,\)"):
        model.simulate(xc=[1, 2])
    index, layout = model._compile().layout.subset(["xr", entry])
    assert len(index) == 1001
    assert layout.place(entry) == 1000


def test_function(quick):
    f = quick.function("psi", wrt=["L01", "L02"])
    x = f.x0 * 1.01
    value, gradient = f.value_and_grad(x)
    assert (value, f(x)) == (f(x), value)
    direct = quick.value_and_grad("psi", x, wrt=["L01", "L02"])
    assert value == direct[0]
    assert (gradient == direct[1]).all()
    gradient[:] = 0  # a copy
    assert (f.grad(x) == direct[1]).all()
    assert f({"L01": x[0], "L02": x[1]}) == value
    batch = f(np.array([[x, f.x0], [f.x0, x]]))
    assert batch.shape == (2, 2)
    assert batch[0, 0] == batch[1, 1] == value
    y, j = f.value_and_jacobian(np.array([x, x]))
    assert y.shape == (2,)
    assert (j[1] == direct[1]).all()
    again = pickle.loads(pickle.dumps(f))
    assert again(x) == value
    for wrong, kind in (([1, 2, 3], ValueError), ("ab", TypeError), ([1, np.nan], ValueError), (3, ValueError)):
        with pytest.raises(kind, match="x: "):
            f(wrong)
    with pytest.raises(InputError, match="mass"):
        quick.function("psi", wrt="m1")([-1.0])


def test_function_keeps_working_after_a_failure(quick):
    f = quick.function("psi", wrt="m1")
    good = f.value_and_grad([2.0])
    for _ in range(3):
        with pytest.raises(InputError):
            f([-1.0])
        assert f.value_and_grad([2.0])[0] == good[0]


def test_function_of_signals(quick):
    f = quick.function(signals="x2", wrt=["k1", "m1"])
    assert f.shape == (len(f.times),)
    y, j = f.value_and_jacobian(f.x0)
    run = quick.simulate()
    assert (y == run["x2"]).all()
    names = run.parameters.names
    assert (j == run.sensitivity("x2")[:, [names.index("k1"), names.index("m1")]]).all()
    w = np.random.default_rng(2).normal(size=f.shape)
    assert np.allclose(f.vjp(f.x0, w), w @ j, rtol=1e-9, atol=1e-15)  # adjoint against direct
    points = np.array([f.x0, 1.1 * f.x0])
    assert np.allclose(f.vjp(points, np.array([w, w]))[0], w @ j, rtol=1e-9, atol=1e-15)
    c = quick.function("psi", wrt=["k1", "m1"])
    assert (c.vjp(c.x0, 2.0) == 2 * c.grad(c.x0)).all()
    g = quick.function(signals=["x2", "y2"])
    assert g.value_and_jacobian(g.x0)[1].shape == (*g.shape, 8)
    with pytest.raises(InputError, match="not both"):
        quick.function("psi", signals="x2")
    with pytest.raises(InputError, match="no signal 'x9'"):
        quick.function(signals="x9")
    with pytest.raises(InputError, match="value_and_jacobian"):
        f.grad(f.x0)


def test_function_does_not_depend_on_threads():
    # error control: the steps are decided at the start, in every thread
    model = mbgrad.load("torsional-pendulum")
    f = model.function(workers=4, end=1)
    x = f.x0 * np.linspace(0.9, 1.1, 9)[:, None]
    values = f(x)
    one = model.function(workers=1, end=1)
    assert (one(x) == values).all()


def test_batch(quick):
    x = quick.parameters.array * np.linspace(0.95, 1.05, 7)[:, None]
    results = [quick.batch(x, workers=n) for n in (1, 2, 5)]
    for result in results:
        assert result.failed == []
        assert len(result) == 7
        for i, row in enumerate(x):
            value, gradient = quick.value_and_grad("psi", row)
            assert result["psi"][i] == value
            assert (result.gradients[i, 0] == gradient).all()
    part = quick.batch({"m1": [1, -1, 2]}, workers=2)
    assert part.failed == [1]
    assert isinstance(part.errors[1], InputError)
    assert np.isnan(part.values[1, 0])
    assert part.gradients.shape == (3, 1, 1)
    assert part.wrt == ["m1"]
    assert quick.batch({"m1": [1, 2]}, gradient=False, criteria="psi").gradients is None
    parts = []
    quick.batch({"m1": [1, 2, 3]}, progress=parts.append, workers=1)
    assert parts[-1] == 1
    for wrong, kind in ((np.ones(8), ValueError), (np.ones((2, 3)), ValueError), ("ab", TypeError)):
        with pytest.raises(kind, match="parameters"):
            quick.batch(wrong)
    with pytest.raises(ValueError, match="different lengths"):
        quick.batch({"m1": [1, 2], "m2": [1, 2, 3]})
    with pytest.raises(ValueError, match="workers"):
        quick.batch({"m1": [1, 2]}, workers=0)
    with pytest.raises(TypeError, match="workers"):
        quick.batch({"m1": [1, 2]}, workers="two")


def test_sweep(quick):
    table = quick.sweep(L01=[2, 2.25], k1=np.array([80.0, 120]), k2=90)
    assert list(table) == ["L01", "k1", "psi", "dpsi/dL01", "dpsi/dk1", "status"]
    assert table["L01"].tolist() == [2, 2, 2.25, 2.25]
    assert table["status"] == ["ok"] * 4
    value, gradient = quick.value_and_grad("psi", L01=2.25, k1=80, k2=90)
    assert table["psi"][2] == value
    assert table["dpsi/dk1"][2] == gradient["k1"]
    assert "4 rows" in repr(table)
    assert quick.sweep({"m1": [-1]})["status"][0] != "ok"
    with pytest.raises(InputError, match="no parameter is varied"):
        quick.sweep(k1=3)


def test_threads_share_a_model(quick):
    values = [80.0 + i for i in range(24)]
    expected = [quick.value("psi", k1=k) for k in values]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda k: quick.value("psi", k1=k), values)) == expected
        f = quick.function("psi", wrt="k1")
        assert list(pool.map(lambda k: f([k]), values)) == expected
        run = quick.simulate()
        rows = list(pool.map(lambda _: run.gradient().array, range(8)))
        assert all((row == rows[0]).all() for row in rows)


def test_processes(quick):
    import multiprocessing

    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(quick.value, "psi", k1=90).result() == quick.value("psi", k1=90)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda m: m.value_and_grad("psy"), InputError, "did you mean 'psi'"),
        (lambda m: m.value_and_grad(3), TypeError, "expected a name"),
        (lambda m: m.value_and_grad("psi", wrt="k9"), InputError, "did you mean 'k1'"),
        (lambda m: m.value_and_grad("psi", wrt=["k1", "k1"]), ValueError, "twice"),
        (lambda m: m.value_and_grad("psi", wrt=[3]), TypeError, "names of parameters"),
        (lambda m: m.value_and_grad("psi", [1.0, 2], wrt=["k1"]), ValueError, "shape"),
        (lambda m: m.value_and_grad(method=3), TypeError, "method"),
        (lambda m: m.jacobian(["psi", "q"]), InputError, "no criterion 'q'"),
        (lambda m: mbgrad.load("quarter-car").value_and_grad(), InputError, "name a criterion"),
    ],
)
def test_wrong_arguments(quick, call, kind, message):
    with pytest.raises(kind) as caught:
        call(quick)
    assert message in str(caught.value)


def test_name_of_parameter_and_option():
    model = mbgrad.load("five-bar").copy()
    model.parameter("step", 1.0)
    model.criterion("s", terminal="x2*step")
    with pytest.raises(TypeError, match="is a parameter of the model and an option"):
        model.value("s", step=2.0)
    assert model.value("s", parameters={"step": 2.0}, end=0.05) == 2 * model.value("s", end=0.05)


def test_second_derivatives(quick):
    run = quick.simulate()
    H = run.hessian("psi")
    assert (H == H.T).all()
    along = run.hessian_vector({"k1": 1}, "psi")
    assert np.allclose(along.array, H[2], rtol=1e-10)
    # the derivative of the exact gradient, by central differences
    step = 1e-3
    plus, minus = (np.asarray(quick.grad("psi", k1=100 + s)) for s in (step, -step))
    assert np.allclose((plus - minus) / (2 * step), H[2], rtol=1e-5, atol=1e-12)
    assert np.allclose(run.hessian(weights={"psi": 2.0}), 2 * H, rtol=1e-12)
    with pytest.raises(ValueError, match="not both"):
        run.hessian("psi", weights={"psi": 1.0})
    proof = run.prove_hessian("psi")
    assert abs(proof.slope - 3) < 0.05
    assert proof.decades > 2
    assert proof.asymmetry < 1e-12
    assert proof.best_difference < 1e-6


def test_uncertainty():
    # theory 9, section 7
    model = mbgrad.load("quarter-car")
    run = model.simulate(step=0.005)
    spread = {"p1": 2200, "p2": 200, "p3": 18.75, "p4": 0.006}
    u = run.uncertainty(spread, "psi0")
    assert abs(u.linear_deviation - 0.1779) < 5e-5
    assert abs(u.mean - 0.8500) < 5e-5
    assert abs(u.deviation - 0.2175) < 5e-5
    assert abs(u.skewness - 1.97) < 5e-3
    assert abs(sum(u.shares.values()) - 1) < 1e-12
    assert max(u.shares, key=u.shares.get) == "p3"
    f = u.factor(high=1)
    smaller = run.uncertainty({k: f * v for k, v in spread.items()}, "psi0")
    assert abs(smaller.mean + 3 * smaller.deviation - 1) < 1e-9
    samples = model.scatter(1000, spread, uniform=["p3"], correlation=np.eye(4))
    assert abs(samples["p1"].std() / 2200 - 1) < 0.1
    assert np.abs(samples["p3"] - 375).max() <= 18.75 * 3**0.5
    with pytest.raises(mbgrad.InputError, match="no parameter scatters"):
        run.uncertainty(criterion="psi0")
    with pytest.raises(mbgrad.InputError, match="is uniform, but has no deviation"):
        run.uncertainty(spread, "psi0", uniform=["p9"])
    with pytest.raises(mbgrad.InputError, match="semidefinite"):
        run.uncertainty(
            {"p1": 1, "p2": 1, "p3": 1}, "psi0", correlation=[[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]]
        )


# ---------------------------------------------------------------------- rows that nearly depend on each other

AXIS = np.array([0.48, 0.6, 0.64])


def flap(distance):
    """A flap on two balls that are close to each other: a hinge, whose rows have the length of the distance."""
    return {
        "mbgrad": 1,
        "parameters": {"Ixx": 0.02, "y": 0.3},
        "gravity": [0, 0, -9.81],
        "bodies": {
            "flap": {
                "mass": 1.5,
                "com": [0.2, "y", 0.1],
                "inertia": ["Ixx", 0.05, 0.06, 0.003, -0.004, 0.002],
                "angular_velocity": list(0.7 * AXIS),
            }
        },
        "joints": {
            "one": {"type": "spherical", "between": ["ground", "flap"], "at": [0, 0, 0]},
            "two": {"type": "spherical", "between": ["ground", "flap"], "at": list(distance * AXIS)},
        },
        "signals": {"a": {"type": "angular-acceleration", "of": "flap", "component": "x"}},
        "criteria": {"squares": {"integral": "a^2"}},
        "run": {"formulation": "lie", "end": 0.1, "step": 0.01},
    }


def flap_acceleration(Ixx, y):
    """Of the angle about the axis, x component."""
    com = np.array([0.2, y, 0.1])
    inertia = np.array([[Ixx, 0.003, -0.004], [0.003, 0.05, 0.002], [-0.004, 0.002, 0.06]])
    about = AXIS @ (inertia + 1.5 * (com @ com * np.eye(3) - np.outer(com, com))) @ AXIS
    return AXIS[0] * (AXIS @ np.cross(com, [0, 0, -1.5 * 9.81])) / about


@pytest.mark.filterwarnings("ignore::mbgrad.MbgradWarning")
@pytest.mark.parametrize("formulation", [str(f) for f in mbgrad.formulations()])
@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-5, 3e-6])
def test_rows_that_nearly_depend_on_each_other(formulation, distance):
    """The first accelerations and their derivatives to 1e-10: an elimination alone has 1e-16 / distance^2."""
    run = mbgrad.load(flap(distance)).simulate(formulation=formulation, end=1e-6, step=1e-6)
    assert run["a"][0] == pytest.approx(flap_acceleration(0.02, 0.3), rel=1e-10)
    by_first = run.vjp({"a": np.eye(len(run.t))[0]})
    for name, values in (("Ixx", (0.02 + 1e-30j, 0.3)), ("y", (0.02, 0.3 + 1e-30j))):
        assert by_first[name] == pytest.approx(flap_acceleration(*values).imag / 1e-30, rel=1e-10)


@pytest.mark.filterwarnings("ignore::mbgrad.MbgradWarning")
@pytest.mark.parametrize("formulation", ["lie", "dae"])
def test_gradients_where_rows_nearly_depend_on_each_other(formulation):
    """The steps are those of the same hinge with balls far apart, and so are the gradients."""
    wide = mbgrad.load(flap(0.1)).simulate(formulation=formulation)
    near = mbgrad.load(flap(3e-6)).simulate(formulation=formulation)
    for method in ("direct", "adjoint"):
        expected, found = (run.gradient("squares", method=method) for run in (wide, near))
        for name in expected:
            assert found[name] == pytest.approx(expected[name], rel=1e-10)
