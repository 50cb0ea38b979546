"""Robots from URDF and SDF; long tests hold them against Pinocchio (python/requirements-long.txt)."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

import mbgrad

CORPUS = Path(__file__).parents[2] / "tests" / "fuzz" / "corpus"
LONG = os.environ.get("MBG_TEST_LONG") == "1"


def test_arm():
    model = mbgrad.load(CORPUS / "arm.urdf")
    assert model.name == "arm"
    assert "renamed: 'upper arm' is called 'upper_arm'" in model.import_report
    data = model.to_dict()
    # the camera, 0.1 kg, moves with the arm of 2 kg
    assert data["bodies"]["upper_arm"]["mass"] == pytest.approx(2.1, rel=1e-15)
    assert data["markers"]["camera"]["on"] == "upper_arm"
    assert model.check().degrees_of_freedom == 4
    run = model.simulate(end=0.1)
    # one finger follows the other: the coupling holds to the tolerance of the constraints
    assert np.max(np.abs(run["q_follow"] - run["q_grip"])) < 1e-10


def test_parameters():
    model = mbgrad.import_file(CORPUS / "arm.urdf", parameters=["mass", "damping"], without=["limits", "friction"])
    assert set(model.parameters.names) >= {"mass_hand", "damping_pan"}
    value, gradient = model.value_and_grad("motion", end=0.05)
    assert np.isfinite(value)
    assert gradient["mass_hand"] != 0
    assert not any(f["type"] in ("stop", "friction") for f in model.to_dict()["forces"].values())


def test_free_base_and_kept_links():
    model = mbgrad.import_file(CORPUS / "leg.sdf", base="free")
    assert model.check().degrees_of_freedom == 8
    kept = mbgrad.import_file(CORPUS / "leg.sdf", base="free", keep_fixed=True)
    assert kept.check().degrees_of_freedom == 8
    ends = [m.simulate(end=0.05, formulation="lie", step=1e-3)["q_hip"][-1] for m in (model, kept)]
    # merged or held by a fixed joint: the same motion up to the rounding of some hundred iterations
    assert ends[0] == pytest.approx(ends[1], abs=1e-10)


def test_errors(tmp_path):
    with pytest.raises(mbgrad.InputError, match="unknown word 'masses'; did you mean 'mass'"):
        mbgrad.import_file(CORPUS / "arm.urdf", parameters=["masses"])
    with pytest.raises(ValueError, match="fixed"):
        mbgrad.import_file(CORPUS / "arm.urdf", base="loose")
    bad = tmp_path / "bad.urdf"
    bad.write_text("<robot name='x'><link name='a'></robot>")
    with pytest.raises(mbgrad.InputError, match=r"bad\.urdf:1:3\d: no XML"):
        mbgrad.load(bad)


# ---------------------------------------------------------------------- Pinocchio


def robots() -> list[Path]:
    """Return the URDF files of example-robot-data, where it is installed."""
    try:
        import example_robot_data  # noqa: F401
    except ImportError:
        return []
    import cmeel.config

    return sorted(Path(cmeel.config.CMEEL_PREFIX).glob("**/*.urdf"))


def word(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def accelerations(data: dict, pin, model, q: np.ndarray, v: np.ndarray, formulation: str) -> np.ndarray:
    joints = [(word(model.names[j]), model.joints[j]) for j in range(1, model.njoints)]

    def angle(joint) -> float:
        at = q[joint.idx_q : joint.idx_q + joint.nq]
        return float(at[0] if joint.nq == 1 else np.arctan2(at[1], at[0]))

    data = json.loads(json.dumps(data))
    data.pop("couplings", None)
    data["initial"] = {
        "pin": {n: {"joint": n, "value": angle(j), "rate": float(v[j.idx_v])} for n, j in joints},
    }
    data["signals"] = {f"a{i}": {"type": "coordinate-acceleration", "joint": n} for i, (n, _) in enumerate(joints)}
    data["criteria"] = {}
    data["run"] = {"formulation": formulation, "end": 1e-6, "step": 1e-6}
    run = mbgrad.load(data).simulate(poses=False)
    return np.array([run[f"a{i}"][0] for i in range(len(joints))])


@pytest.mark.skipif(not LONG, reason="long")
@pytest.mark.filterwarnings("ignore")
def test_robots_against_pinocchio():
    pin = pytest.importorskip("pinocchio")
    files = robots()
    if not files:
        pytest.skip("example-robot-data is not installed")
    generator = np.random.default_rng(1)
    loaded = agreed = 0
    failures = []
    for path in files:
        try:
            model = pin.buildModelFromUrdf(str(path))
        except ValueError:
            continue
        loaded += 1
        try:
            data = mbgrad.import_file(path, without=["limits", "damping", "friction"]).to_dict()
        except mbgrad.Error as error:
            failures.append(f"{path.name}: {error}")
            continue
        if model.nv == 0:
            agreed += 1
            continue
        work = model.createData()
        for _ in range(20):
            q, v = pin.neutral(model), generator.uniform(-1, 1, model.nv)
            q = pin.integrate(model, q, generator.uniform(-2, 2, model.nv))
            theirs = np.array(pin.aba(model, work, q, v, np.zeros(model.nv)))
            if not np.all(np.isfinite(theirs)):
                break  # links without any inertia: singular in both
            mine = accelerations(data, pin, model, q, v, "dca")
            # 1e-9: both lose digits with the condition of the robot's mass matrix, up to some 1e5
            assert np.max(np.abs(mine - theirs)) <= 1e-9 * np.max(np.abs(theirs)), path.name
        agreed += 1
    assert agreed >= 0.95 * loaded, failures
