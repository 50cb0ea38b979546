"""Problems: what modes, linear models, optimization, identification and control tell beyond their main results."""

import json
import pickle

import numpy as np
import pytest

import mbgrad
from mbgrad import InputError


@pytest.fixture(scope="module")
def modes():
    return mbgrad.load("quarter-car").modes(gradient=True)


def test_eigenvalue_gradient(modes):
    for mode in modes:
        if mode.kind != "oscillation":
            continue
        s, ds = mode.eigenvalue, mode.eigenvalue_gradient.array
        assert isinstance(mode.eigenvalue_gradient["p1"], complex)
        # frequency |s| / (2 pi), damping ratio -re(s) / |s|
        size = (s.conjugate() * ds).real / abs(s)
        np.testing.assert_allclose(size / (2 * np.pi), mode.frequency_gradient.array, rtol=1e-9, atol=1e-14)
        damping = -ds.real / abs(s) + s.real * size / abs(s) ** 2
        np.testing.assert_allclose(damping, mode.damping_gradient.array, rtol=1e-9, atol=1e-14)
    assert mbgrad.load("quarter-car").modes()[0].eigenvalue_gradient is None


def test_eigenvalue_gradient_by_differences(modes):
    model, h = mbgrad.load("quarter-car"), 1e-5
    value = model.parameters["p1"]
    up, down = (model.modes(p1=value * (1 + d)).eigenvalues for d in (h, -h))
    found = [m.eigenvalue_gradient["p1"] for m in modes]
    np.testing.assert_allclose(found, (up - down) / (2 * h * value), rtol=1e-6, atol=1e-9 * abs(found[-1]))


def test_displace(modes):
    mode, body = modes[0], modes[0].body
    origin = modes.positions[body]
    for phase in (0, 0.7):
        turned = mode.shape[body] * np.exp(1j * phase)
        u, theta = turned[:3].real, turned[3:].real
        np.testing.assert_allclose(modes.displace(0, body, origin, phase=phase), origin + u, atol=1e-15)
        r = np.array([[0.1, 0.2, 0.3], [-1, 0, 2]])
        moved = modes.displace(0, body, origin + r, amplitude=0.5, phase=phase)
        np.testing.assert_allclose(moved, origin + r + 0.5 * (u + np.cross(theta, r)), atol=1e-14)
    assert (modes.displace(0, None, [1, 2, 3]) == [1, 2, 3]).all()
    assert (modes.displace(-1, body, origin) == modes.displace(len(modes) - 1, body, origin)).all()
    with pytest.raises(InputError, match="no body 'nothing'"):
        modes.displace(0, "nothing", origin)
    with pytest.raises(IndexError):
        modes.displace(len(modes), body, origin)
    with pytest.raises(ValueError, match="points"):
        modes.displace(0, body, [1, 2])


def test_modes_picture(program):
    modes = mbgrad.load("five-bar").modes(at="start", undamped=True)
    run = mbgrad.load("five-bar").simulate(end=0.01)
    for body, x in modes.positions.items():
        np.testing.assert_allclose(x, run.frames[body].position[0], atol=1e-12)
    assert {line.kind for line in modes.lines} <= {"body", "beam", "force"}
    assert {body for line in modes.lines for body in line.bodies} <= {*modes.positions, None}
    assert all(line.points.shape == (2, 3) for line in modes.lines)
    springs = [line for line in modes.lines if line.kind == "force"]
    assert len(springs) == len(mbgrad.load("five-bar").forces)
    assert modes.data == program("modes", "five-bar", "--at", "start", "--undamped")


def test_modes_are_pickled(modes):
    again = pickle.loads(pickle.dumps(modes))
    assert again.data == modes.data
    assert (again.displace(0, modes[0].body, [1, 0, 0]) == modes.displace(0, modes[0].body, [1, 0, 0])).all()


def test_linear_data(program):
    linear = mbgrad.load("five-bar").linearize(inputs=["k1"], by=["k1", "m1"])
    assert linear.at == "equilibrium"
    assert list(linear.derivatives) == ["k1", "m1"]
    assert linear.data == program("linearize", "five-bar", "--inputs", "k1", "--by", "k1,m1")
    again = pickle.loads(pickle.dumps(linear))
    assert again.data == linear.data
    assert (again.response(3.0) == linear.response(3.0)).all()
    with pytest.raises(InputError, match="no parameter 'k9'; did you mean"):
        mbgrad.load("five-bar").linearize(by=["k9"])


def test_linear_models_outlive_their_model():
    linear = mbgrad.load("overhead-crane").linearize(at="start", inputs=["u"], outputs=["x_t"])
    assert linear.data["model"] == "overhead-crane"
    assert np.isfinite(linear.response(2.0)).all()


def test_transitions(program):
    crane = mbgrad.load("overhead-crane")
    run = crane.simulate()
    found = run.transitions(0.5, inputs=["u"], outputs=["x_t", "x_l"])
    n = len(found.states)
    assert found.A.shape == (6, n, n)
    assert found.B.shape == (6, n, 1)
    assert found.C.shape == (6, 2, n)
    assert found.t == pytest.approx(np.arange(7) * 0.5)
    assert found.x.shape == (7, n)
    assert found.y[-1] == pytest.approx([run["x_t"][-1], run["x_l"][-1]], abs=1e-3)
    said = program("linearize", "overhead-crane", "--transition", "0.5", "--inputs", "u", "--outputs", "x_t,x_l")
    assert found.data == said
    for k, sample in enumerate(said["samples"][:-1]):
        assert found.A[k].tolist() == sample["A"]
        assert found.B[k].tolist() == sample["B"]
    assert pickle.loads(pickle.dumps(found)).data == said
    with pytest.raises(InputError, match="no intervals of 9 s"):
        run.transitions(9)
    with pytest.raises(ValueError, match="interval"):
        run.transitions(float("nan"))


def test_linearize_a_run():
    crane = mbgrad.load("overhead-crane")
    run = crane.simulate(end=0.5)
    linear = run.linearize(inputs=["u"], outputs=["x_t", "x_l"])
    assert (linear.at, linear.time) == ("run", run.t[-1])
    assert linear.values["x_t"] == pytest.approx(run["x_t"][-1], rel=1e-12)
    # a run that ends at once is at its start
    start = crane.linearize(at="start", inputs=["u"], outputs=["x_t", "x_l"])
    short = crane.simulate(end=1e-6, step=1e-6).linearize(inputs=["u"], outputs=["x_t", "x_l"])
    np.testing.assert_allclose(short.A, start.A, atol=1e-4)
    with pytest.raises(InputError, match=r"run\.linearize\(\)"):
        crane.linearize(at="run")


def test_optimizers():
    names = mbgrad.optimizers()
    assert {"lbfgs", "slsqp", "mma"} <= set(names)
    assert len(names) == len(set(names))
    with pytest.raises(InputError, match="optimizer"):
        mbgrad.load("five-bar-design").optimize(optimizer="magic")


def test_optimize_problem():
    model = mbgrad.load("five-bar-design")
    problem = model.optimize_problem()
    assert problem.names == [p.name for p in model.optimize(iterations=1).optimized]
    low, high = model.bounds
    assert problem.bounds[0].tolist() == [low[n] for n in problem.names]
    assert problem.bounds[1].tolist() == [high[n] for n in problem.names]
    x = problem.x0 * 1.01
    value, gradient = problem.value_and_grad(x)
    given = dict(zip(problem.names, x, strict=True))
    run = model.simulate(given)
    assert value == problem.value(x) == pytest.approx(run.criteria["psi"], rel=1e-12)
    direct = run.gradient("psi", method="direct")
    np.testing.assert_allclose(gradient, [direct[n] for n in problem.names], rtol=1e-8)
    assert problem.evaluate(x, gradient=False).gradient is None
    assert "L01" in repr(problem)
    with pytest.raises(ValueError, match="x: expected an array of shape"):
        problem.value([1, 2, 3])


def test_scipy_solves_the_problem():
    scipy = pytest.importorskip("scipy.optimize")
    model = mbgrad.load("five-bar-design")
    problem, own = model.optimize_problem(), model.optimize(error=True)
    bounds = scipy.Bounds(*problem.bounds)
    found = scipy.minimize(problem.value_and_grad, problem.x0, jac=True, bounds=bounds, method="L-BFGS-B")
    assert found.fun == pytest.approx(own.objective, rel=1e-4, abs=1e-9)
    assert np.isfinite(own.objective_error)
    assert isinstance(own.error_regular, bool)
    step = own.model.simulate().error(gradient=False)["psi"]
    assert own.objective_error == pytest.approx(step.value, rel=0.1)


def test_cases_and_active_points():
    result = mbgrad.load("quarter-car-design").optimize()
    assert sum(c.weight * c.objective for c in result.cases) == pytest.approx(result.objective, rel=1e-12)
    assert np.isnan(result.objective_error)
    for k, constraint in enumerate(result.constraints):
        points = [a for a in result.active if a.constraint == k]
        assert sum(a.multiplier for a in points) == pytest.approx(constraint.multiplier, rel=1e-9, abs=1e-15)
    assert result.active
    low, _ = mbgrad.load("five-bar-design").bounds
    with pytest.warns(mbgrad.MbgradWarning, match="outside its bounds"):
        result = mbgrad.load("five-bar-design").optimize({"L01": 0.5 * low["L01"]}, iterations=1)
    assert any("L01" in text and "outside its bounds" in text for text in result.warnings)


def test_identify_problem():
    model = mbgrad.load("noisy-pendulum")
    problem = model.identify_problem()
    x = problem.x0 * 1.02
    r, jacobian = problem.residuals(x), problem.jacobian(x)
    assert r.shape == (problem.samples,)
    assert jacobian.shape == (problem.samples, len(x))
    cost, gradient = problem.value_and_grad(x)
    assert cost == pytest.approx(0.5 * r @ r, rel=1e-12)
    np.testing.assert_allclose(gradient, jacobian.T @ r, rtol=1e-7, atol=1e-9 * abs(gradient).max())
    h = 1e-3 * np.abs(x)  # the tolerance of the iterations adds noise of about 1e-8 to the residuals
    for j in range(len(x)):
        d = np.zeros_like(x)
        d[j] = h[j]
        difference = (problem.residuals(x + d) - problem.residuals(x - d)) / (2 * h[j])
        np.testing.assert_allclose(jacobian[:, j], difference, atol=1e-5 * abs(difference).max())


def test_identify_diagnostics():
    model = mbgrad.load("noisy-pendulum")
    problem = model.identify_problem()
    result = model.identify(bias=False)
    x = np.array([p.value for p in result.fitted])
    jacobian = problem.jacobian(x)
    jacobian = jacobian / np.linalg.norm(jacobian, axis=0)
    np.testing.assert_allclose(result.singular_values, np.linalg.svd(jacobian, compute_uv=False), rtol=1e-4)
    assert result.condition == pytest.approx(result.singular_values[0] / result.singular_values[-1], rel=1e-12)
    (start,) = result.starts
    assert start.start_cost == pytest.approx(problem.value_and_grad(problem.x0)[0], rel=1e-9)
    assert (start.cost, start.message, start.iterations) == (result.cost, result.message, result.iterations)
    assert result.warnings == []
    scipy = pytest.importorskip("scipy.optimize")
    found = scipy.least_squares(problem.residuals, problem.x0, problem.jacobian, problem.bounds, xtol=1e-12)
    np.testing.assert_allclose(found.x, x, rtol=1e-5)


def test_restart_of_controls(tmp_path):
    model, file = mbgrad.load("overhead-crane"), tmp_path / "best.json"
    first = model.control(samples=10, iterations=3, save=file)
    assert json.loads(file.read_text())["controls"]["u"]["values"] == first.controls["u"].values.tolist()
    more = model.control(samples=10, iterations=1, begin=file)
    assert more.objective_start == pytest.approx(first.objective, rel=1e-9)
    assert more.objective < first.objective
    with pytest.raises(mbgrad.FileError):
        model.control(samples=10, begin=tmp_path / "missing.json")
    stopped = tmp_path / "stopped.json"
    result = model.control(samples=10, progress=lambda s: True, save=stopped)
    assert json.loads(stopped.read_text())["objective"] == result.objective
