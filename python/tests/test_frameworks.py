"""SciPy, JAX, PyTorch, OpenMDAO and CasADi."""

import warnings

import numpy as np
import pytest

import mbgrad


def driven_five_bar():
    """A loop with a control: the samples of a torque at joint A are parameters."""
    model = mbgrad.load("five-bar").copy()
    model.parameter("u", [5.0, -3.0, 2.0])
    model.control_input("torque", times=[0, 0.1, 0.2], values="u", interpolation="linear")
    model.actuator("motor", joint="A", coordinate="angle", force="torque")
    return model


# a loop, a suspension over a bump, a loop with controls; short runs
CASES = [
    ("five-bar", mbgrad.load("five-bar"), "psi", ["L01", "k1"], {"end": 0.2}),
    ("quarter-car", mbgrad.load("quarter-car"), "psi0", ["p1", "p4"], {"end": 0.3}),
    ("controls", driven_five_bar(), "psi", ["u", "m1"], {"end": 0.2}),
]


@pytest.fixture(scope="module")
def optimum():
    return mbgrad.load("five-bar-design").optimize().x


def test_scipy(optimum):
    scipy = pytest.importorskip("scipy")
    from scipy.optimize import check_grad, minimize

    model = mbgrad.load("five-bar-design")
    problem = model.scipy("psi", wrt=["L01", "L02"])
    f = problem.function
    # difference of a quotient with step 1.5e-8
    assert check_grad(f, f.grad, problem.x0) < 1e-4 * np.linalg.norm(f.grad(problem.x0))
    result = minimize(**problem, method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-10})
    # psi is flat there: it falls with the square of the distance
    assert np.allclose(result.x, optimum, atol=1e-5)
    assert problem.minimize(method="SLSQP").fun < 1e-4
    changed = model.copy()
    changed.criterion("end", terminal="x2")
    limited = changed.scipy("psi", wrt=["L01", "L02"], end=1)
    limit = limited.constraint("end", max=0.45)
    best = limited.minimize(method="trust-constr", constraints=[limit], options={"maxiter": 60})
    assert limit.fun(best.x) <= 0.45 + 1e-4
    with pytest.raises(mbgrad.InputError, match="no limit"):
        limited.constraint("end")
    assert scipy.__version__


@pytest.mark.long
@pytest.mark.parametrize(("model", "criterion", "wrt", "options"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_jax(model, criterion, wrt, options):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    f = model.jax(criterion, wrt=wrt, **options)
    reference = model.function(criterion, wrt=wrt, **options)
    x = jnp.asarray(reference.x0 * 1.01)
    value, gradient = reference.value_and_grad(np.asarray(x))
    assert float(f(x)) == value
    assert (np.asarray(jax.grad(f)(x)) == gradient).all()
    assert np.allclose(jax.jacfwd(f)(x), gradient, rtol=1e-14)
    assert np.allclose(jax.jacrev(f)(x), gradient, rtol=1e-14)
    assert np.allclose(jax.jit(jax.grad(f))(x), gradient, rtol=1e-14)
    loss = lambda x: jnp.sin(f(x)) ** 2  # noqa: E731
    expected = 2 * np.sin(value) * np.cos(value) * gradient
    assert np.allclose(jax.jit(jax.grad(loss))(x), expected, rtol=1e-12)
    points = jnp.stack([x, x * 1.01, x * 0.99])
    assert np.allclose(jax.vmap(f)(points), [reference(np.asarray(p)) for p in points], rtol=0)
    assert np.allclose(jax.vmap(jax.grad(f))(points), reference.jacobian(np.asarray(points)), rtol=1e-14)
    both = model.jax([criterion], wrt=wrt, **options)
    assert jax.jacrev(both)(x).shape == (1, reference.size)


@pytest.mark.long
def test_jax_signals():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    model = mbgrad.load("five-bar")
    f = model.jax(signals=["x2", "y2"], wrt=["k1", "m1"], end=0.2)
    reference = model.function(signals=["x2", "y2"], wrt=["k1", "m1"], end=0.2)
    x = np.array([120.0, 1.2])
    loss = lambda x: jax.numpy.sum((f(x) - 0.4) ** 2)  # noqa: E731
    y, j = reference.value_and_jacobian(x)
    assert np.allclose(jax.grad(loss)(x), np.einsum("ns,nsp->p", 2 * (y - 0.4), j), rtol=1e-10)


@pytest.mark.long
@pytest.mark.parametrize(("model", "wrt", "options"), [(c[1], *c[3:]) for c in CASES], ids=[c[0] for c in CASES])
def test_jax_pulls_signals_back(model, wrt, options, monkeypatch):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    options = {**options, "end": options["end"] / 4}
    f = model.jax(signals=model.signals[:2], wrt=wrt, **options)
    reference = model.function(signals=model.signals[:2], wrt=wrt, **options)
    x = reference.x0 * 1.01
    y, j = reference.value_and_jacobian(x)
    size = np.abs(y).max()
    loss = lambda x: jax.numpy.sum((f(x) / size - 0.4) ** 2)  # noqa: E731
    expected = np.einsum("ns,nsp->p", 2 * (y / size - 0.4) / size, j)
    assert np.allclose(jax.jacfwd(f)(x), j, rtol=1e-13)
    assert np.allclose(jax.jvp(f, (x,), (x,))[1], j @ x, rtol=1e-12)
    with monkeypatch.context() as patch:  # backward: the adjoint, no Jacobian
        patch.setattr(mbgrad.Function, "value_and_jacobian", None)
        tolerance = {"rtol": 1e-7, "atol": 1e-9 * np.abs(expected).max()}
        assert np.allclose(jax.grad(loss)(x), expected, **tolerance)
        assert np.allclose(jax.jit(jax.grad(loss))(x), expected, **tolerance)
        points = np.stack([x, 1.01 * x])
        assert np.allclose(jax.vmap(jax.grad(loss))(points)[0], expected, **tolerance)
        batch = jax.grad(lambda points: jax.vmap(loss)(points).sum())(points)
        assert np.allclose(batch[0], expected, **tolerance)
        rows = jax.jit(jax.jacrev(lambda x: f(x)[-2:]))(x)
    assert np.allclose(rows, j[-2:], rtol=1e-7, atol=1e-9 * np.abs(j[-2:]).max())


@pytest.mark.long
def test_jax_wrong():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    f = mbgrad.load("five-bar").jax("psi", wrt=["k1", "k2"], end=0.1)
    with pytest.raises(ValueError, match="expected 2 numbers"):
        f(np.ones(3))
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(mbgrad.InputError, match="jax_enable_x64"):
            mbgrad.load("five-bar").jax("psi")
    finally:
        jax.config.update("jax_enable_x64", True)


@pytest.mark.long
@pytest.mark.parametrize(("model", "criterion", "wrt", "options"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_torch(model, criterion, wrt, options):
    torch = pytest.importorskip("torch")
    f = model.torch(criterion, wrt=wrt, **options)
    reference = model.function(criterion, wrt=wrt, **options)
    x = torch.tensor(reference.x0 * 1.01, dtype=torch.float64, requires_grad=True)
    f(x).backward()
    assert (x.grad.numpy() == reference.grad(x.detach().numpy())).all()
    # the function of unit arguments: steps of gradcheck suit all of them
    scaled = lambda s: f(s * torch.tensor(reference.x0)) / abs(reference(reference.x0))  # noqa: E731
    one = torch.full((reference.size,), 1.01, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(scaled, (one,), eps=1e-5, atol=1e-6, rtol=1e-5)
    batch = torch.stack([one, one * 1.01]).detach().requires_grad_()
    assert torch.autograd.gradcheck(scaled, (batch,), eps=1e-5, atol=1e-6, rtol=1e-5)
    assert f(x.detach()).requires_grad is False
    with pytest.raises(mbgrad.InputError, match="float64"):
        f(x.float())
    with pytest.raises(TypeError, match="torch tensor"):
        f(np.ones(2))


@pytest.mark.long
def test_torch_signals():
    torch = pytest.importorskip("torch")
    f = mbgrad.load("five-bar").torch(signals=["x2", "y2"], wrt=["k1", "m1"], end=0.1)
    x = torch.tensor([1.2, 1.2], dtype=torch.float64, requires_grad=True)
    scale = torch.tensor([100.0, 1.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: f(x * scale)[-1] * 1e3, (x,), eps=1e-4, atol=1e-5, rtol=1e-4)
    batch = torch.stack([x, x]).detach().requires_grad_()
    out = f(batch * scale)
    assert out.shape[0] == 2
    (out**2).sum().backward()
    assert torch.isfinite(batch.grad).all()


@pytest.mark.long
def test_openmdao(optimum):
    om = pytest.importorskip("openmdao.api")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = om.Problem(reports=False)
        component = mbgrad.load("five-bar-design").openmdao("psi", wrt=["L01", "L02"])
        problem.model.add_subsystem("car", component, promotes=["*"])
        problem.model.add_design_var("L01", lower=1, upper=4)
        problem.model.add_design_var("L02", lower=1, upper=4)
        problem.model.add_objective("psi")
        problem.driver = om.ScipyOptimizeDriver(optimizer="L-BFGS-B", tol=1e-16, disp=False)
        problem.driver.opt_settings["gtol"] = 1e-10
        problem.setup()
        problem.run_model()
        checked = problem.check_partials(compact_print=True, out_stream=None, method="fd", form="central", step=1e-6)
        for entry in checked["car"].values():
            relative = np.linalg.norm(entry["J_fwd"] - entry["J_fd"]) / np.linalg.norm(entry["J_fd"])
            assert relative < 1e-6
        problem.run_driver()
    found = np.array([problem.get_val("L01")[0], problem.get_val("L02")[0]])
    assert np.allclose(found, optimum, atol=1e-5)


@pytest.mark.long
def test_casadi(optimum):
    casadi = pytest.importorskip("casadi")
    model = mbgrad.load("five-bar-design")
    f = model.casadi("psi", wrt=["L01", "L02"])
    reference = model.function("psi", wrt=["L01", "L02"])
    x = casadi.MX.sym("x", 2)
    gradient = casadi.Function("g", [x], [casadi.gradient(f(x), x)])
    assert np.allclose(np.asarray(gradient(reference.x0)).ravel(), reference.grad(reference.x0), rtol=1e-12)
    solver = casadi.nlpsol(
        "s", "ipopt", {"x": x, "f": f(x)},
        {"ipopt.hessian_approximation": "limited-memory", "ipopt.print_level": 0, "print_time": False,
         "ipopt.tol": 1e-10},
    )  # fmt: skip
    solution = solver(x0=reference.x0, lbx=[1, 1], ubx=[4, 4])
    assert np.allclose(np.asarray(solution["x"]).ravel(), optimum, atol=1e-5)
