"""The package and the program give the same numbers, bit for bit."""

import csv
import subprocess
import sys

import numpy as np
import pytest

import mbgrad
from conftest import LONG

# runs of several seconds: their first part, in the fast tests
SHORT = {
    "andrews": 0.01, "bricard": 0.3, "car-axis": 0.3, "flexible-pendulum": 0.1, "flexible-slider-crank": 0.002,
    "flexible-slider-crank-beam": 0.02, "four-bar": 0.3, "four-bar-chain": 0.3, "rotating-beam": 1.0,
    "slider-crank-topology": 0.01, "vehicle": 0.2, "vehicle-design": 0.2, "rssr": 0.3, "two-arm": 0.3,
    "wishbone-corner": 0.2, "two-body-spatial": 0.3, "four-bar-spatial": 0.3, "flexible-four-bar": 0.05,
}  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore::mbgrad.MbgradWarning")


def flat(gradient):
    """The gradient of the program as a vector."""
    return np.concatenate([np.atleast_1d(v) for v in gradient.values()]) if gradient else np.zeros(0)


@pytest.mark.parametrize("name", mbgrad.gallery())
def test_gradients(name, program):
    end = None if LONG else SHORT.get(name)
    model = mbgrad.load(name)
    if not model.criteria:
        pytest.skip("no criteria")
    said = program("gradient", name, "--no-error-estimate", *(["--end", end] if end else []))
    run = model.simulate(poses=False, **({"end": end} if end else {}))
    assert run.formulation == said["formulation"]
    assert set(run.criteria) == set(said["criteria"])
    jacobian = run.jacobian() if len(run.parameters) else np.zeros((len(run.criteria), 0))
    for k, criterion in enumerate(model.criteria):
        assert run.criteria[criterion] == said["criteria"][criterion]["value"]
        if len(run.parameters):
            assert (jacobian[k] == flat(said["criteria"][criterion]["gradient"])).all()


@pytest.mark.parametrize(("name", "end"), [("five-bar", 1), ("quarter-car", 0.5), ("torsional-pendulum", 1)])
def test_signals(name, end, tmp_path):
    file = tmp_path / "signals.csv"
    command = [sys.executable, "-m", "mbgrad", "simulate", name, "--end", str(end), "--out", str(file), "--quiet"]
    subprocess.run(command, check=True)
    with open(file, encoding="utf-8") as stream:
        head, *rows = list(csv.reader(stream))
    table = np.array(rows, dtype=float)
    run = mbgrad.load(name).simulate(end=end)
    shown = np.vectorize(lambda x: float(f"{x:.15g}"))  # the table has 15 digits
    assert (table[:, 0] == shown(run.t)).all()
    for k, signal in enumerate(head[1:], 1):
        assert (table[:, k] == shown(run[signal])).all()


def test_check(program):
    for name in ("five-bar", "vehicle", "bricard"):
        assert mbgrad.load(name).check().data == program("check", name)
    check = mbgrad.load("five-bar").check()
    assert check.degrees_of_freedom == 2
    assert "2 degrees" in repr(check)
    with pytest.raises(AttributeError, match="did you mean 'degrees_of_freedom'"):
        check.degrees_of_fredom  # noqa: B018


def test_modes(program):
    said = program("modes", "quarter-car", "--gradient")
    modes = mbgrad.load("quarter-car").modes(gradient=True)
    assert len(modes) == len(said["modes"])
    for mode, other in zip(modes, said["modes"], strict=True):
        assert (mode.kind, mode.frequency, mode.damping) == (other["kind"], other["frequency"], other["damping"])
        assert mode.eigenvalue == complex(*other["eigenvalue"])
        assert mode.body == other["body"]
        assert mode.shape[mode.body].real.tolist() == other["shape"][mode.body]
        assert mode.frequency_gradient is not None
    with pytest.raises(mbgrad.InputError, match="did you mean 'equilibrium'"):
        mbgrad.load("quarter-car").modes(at="equilibrum")


def test_linearize(program):
    said = program("linearize", "five-bar", "--inputs", "k1", "--by", "k1,m1")
    linear = mbgrad.load("five-bar").linearize(inputs=["k1"], by=["k1", "m1"])
    assert linear.states == [s["name"] for s in said["states"]]
    for letter in "ABCD":
        assert getattr(linear, letter).tolist() == said[letter]
        assert linear.derivatives["m1"][letter].tolist() == said["derivatives"]["m1"][letter]
    assert linear.poles.tolist() == [complex(*s) for s in said["poles"]]
    with pytest.raises(mbgrad.InputError, match="did you mean 'equilibrium'"):
        mbgrad.load("five-bar").linearize(at="equilibrum")
    with pytest.raises(mbgrad.InputError, match="no parameter 'k9'"):
        mbgrad.load("five-bar").linearize(by=["k9"])
    with pytest.raises(mbgrad.InputError, match="input 'k9' is neither a control nor a parameter"):
        mbgrad.load("five-bar").linearize(inputs=["k9"])


def test_linearize_against_scipy():
    linalg = pytest.importorskip("scipy.linalg")
    crane = mbgrad.load("overhead-crane").linearize(at="start", inputs=["u"], outputs=["x_t", "x_l"])
    poles = sorted(linalg.eigvals(crane.A), key=lambda s: (round(abs(s), 9), -s.imag))
    np.testing.assert_allclose(crane.poles, poles, rtol=1e-9, atol=1e-9)
    # zeros: eigenvalues of the pencil ([A B; C D], [1 0; 0 0]) that are finite
    n = len(crane.states)
    pencil = np.block([[crane.A, crane.B], [crane.C[:1], crane.D[:1]]])
    found = linalg.eigvals(pencil, np.diag([1.0] * n + [0.0]))
    found = sorted(found[np.isfinite(found) & (abs(found) < 1e3)], key=lambda s: -s.imag)
    np.testing.assert_allclose(crane.zeros("u", "x_t"), found, rtol=1e-7, atol=1e-7)
    s = 2j * np.eye(n) - crane.A
    np.testing.assert_allclose(crane.response(2.0), crane.C @ np.linalg.solve(s, crane.B) + crane.D, rtol=1e-12)
    with pytest.raises(mbgrad.InputError, match="no output 'x_m'"):
        crane.zeros("u", "x_m")


def test_optimize(program):
    said = program("optimize", "five-bar-design")
    model = mbgrad.load("five-bar-design")
    seen = []
    result = model.optimize(progress=seen.append)
    assert result.converged
    assert result.objective == said["objective"]
    assert result.iterations == said["iterations"] == len(result.history)
    for p in result.optimized:
        assert p.value == said["parameters"][p.name]["value"]
    assert result.parameters["L01"] == result.x[0]
    assert "L01" in repr(result)
    with pytest.raises(TypeError, match="did you mean 'iterations'"):
        model.optimize(iteration=3)
    assert result.model.parameters["L01"] == result.x[0]
    assert seen[-1].iteration >= 1
    assert model.optimize(progress=lambda s: True).iterations == 1
    assert not model.optimize(iterations=2).converged
    with pytest.raises(mbgrad.InputError, match="optimizer"):
        model.optimize(optimizer="magic")
    with pytest.raises(mbgrad.InputError):
        mbgrad.load("five-bar").optimize()


def test_identify(program):
    said = program("identify", "noisy-pendulum")
    result = mbgrad.load("noisy-pendulum").identify()
    assert result.converged
    assert (result.cost, result.iterations) == (said["cost"], said["iterations"])
    for p in result.fitted:
        other = said["parameters"][p.name]
        assert (p.value, p.standard_error) == (other["value"], other["standard_error"])
    assert "+-" in repr(result)
    channel = result.channels[0]
    assert channel.time.shape == channel.data.shape == channel.model.shape == (channel.samples,)
    assert result.correlation.shape == (len(result.fitted), len(result.fitted))
    assert result.model.parameters["L"] == result.parameters["L"]


def test_control(program):
    said = program("control", "overhead-crane")
    model = mbgrad.load("overhead-crane")
    result = model.control()
    assert result.converged
    assert result.objective == said["objective"]
    found = result.controls["u"]
    assert found.values.tolist() == said["controls"]["u"]["values"]
    assert result.criteria["track"] == said["criteria"]["track"]["value"]
    assert result.model.simulate().criteria["track"] == pytest.approx(result.criteria["track"], rel=1e-6)
    few = model.control(samples=10, iterations=3, criteria={"track": 2.0}, names=["u"])
    assert len(few.controls["u"].times) == 10


def test_check_gradient(program):
    for name in ("quarter-car", "heavy-top", "five-bar") if LONG else ("simple-pendulum", "five-bar"):
        said = program("check", name, "--gradient", statuses=(0, 1, 3))["gradient"]  # 3: the steps are too long
        proof = mbgrad.load(name).check_gradient()
        assert bool(proof) == proof.proven == said["proven"]
        for criterion, q in proof.items():
            other = said["criteria"][criterion]
            assert q.taylor_slope == other["taylor_slope"]
            assert q.direct_vs_adjoint == other["direct_vs_adjoint"]
            assert q.proven == other["proven"]
    assert "proven" in repr(proof)


def test_check_gradient_across_events(program, tmp_path):
    """A wall that the second parameter moves: its impact vanishes above an eps, and a time is linear below."""
    text = """{"mbgrad": 1, "parameters": {"k": 40, "a": 0.5, "e": 0.6, "wall": -0.4995, "late": 0.6021},
      "modes": {"push": 0}, "bodies": {"b": {"motion": "point", "mass": 1, "position": ["a", 0, 0]}},
      "joints": {"rail": {"type": "point-on-line", "between": ["ground", "b"], "at": [0, 0, 0], "axis": [1, 0, 0]}},
      "signals": {"x": {"type": "position", "of": "b", "component": "x"}},
      "forces": {"f": {"type": "force", "on": "b", "force": ["-k*x + push", 0, 0]}},
      "events": {"hit": {"guard": "x - wall", "impact": {"restitution": "e"}},
        "switch": {"at": "late", "set": {"push": 1}}},
      "criteria": {"x_end": {"terminal": "x"}, "when": {"terminal": "t", "at": "switch"}},
      "run": {"end": 0.7, "step": 0.005}}"""
    path = tmp_path / "wall.json"
    path.write_text(text)
    said = program("check", str(path), "--gradient", statuses=(0, 3))["gradient"]
    proof = mbgrad.load(path).check_gradient()
    assert proof.proven
    assert said["proven"]
    for name in ("x_end", "when"):
        assert proof[name].sequence_event == "hit"
        assert proof[name].sequence_change == "gone"
        assert proof[name].sequence_eps == said["criteria"][name]["sequence_eps"]
    assert "hit" in repr(proof)


def test_program_and_version():
    out = subprocess.run([sys.executable, "-m", "mbgrad", "--version"], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == f"mbgrad {mbgrad.__version__}"
    assert list(mbgrad.formulations()) == ["lie", "dae", "qr", "ali3p", "dca"]
    assert (
        subprocess.run([sys.executable, "-m", "mbgrad", "nonsense"], capture_output=True, check=False).returncode == 2
    )
