"""Robots to URDF and MJCF: import, export and import again is the identity; numbers go back into the original file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import mbgrad

CORPUS = Path(__file__).parents[2] / "tests" / "fuzz" / "corpus"
ONE = {"revolute", "prismatic", "screw"}


def joints(data: dict) -> list[str]:
    """Return the joints with one coordinate that nothing else determines."""
    follow = data.get("couplings", {})
    return [n for n, j in data["joints"].items() if j["type"] in ONE and n not in follow and not j.get("cut")]


def accelerations(data: dict, state: dict, formulation: str) -> dict[str, float]:
    data = json.loads(json.dumps(data))
    names = joints(data)
    data["initial"] = {"pin": {n: {"joint": n, "value": q, "rate": w} for n, (q, w) in state.items()}}
    data["signals"] = {f"a{i}": {"type": "coordinate-acceleration", "joint": n} for i, n in enumerate(names)}
    data["criteria"] = {}
    data["run"] = {"formulation": formulation, "end": 1e-6, "step": 1e-6}
    run = mbgrad.load(data).simulate(poses=False)
    return {n: float(run[f"a{i}"][0]) for i, n in enumerate(names)}


def same(one: dict, other: dict, states: int = 5, formulation: str = "lie") -> None:
    """Accelerations at random states agree to 1e-12; with loops at the start, where all of them fit together."""
    generator = np.random.default_rng(1)
    loops = any(j.get("cut") for j in one["joints"].values())
    names = [] if loops else joints(one)
    for _ in range(1 if loops else states):
        state = {n: (float(generator.uniform(-0.3, 0.3)), float(generator.uniform(-1, 1))) for n in names}
        mine, theirs = accelerations(one, state, formulation), accelerations(other, state, formulation)
        assert set(mine) <= set(theirs)
        largest = max(1.0, *(abs(a) for a in mine.values()))
        for name, value in mine.items():
            assert abs(value - theirs[name]) <= 1e-12 * largest, name


FILES = [
    ("arm.urdf", ".urdf", "fixed"),
    ("arm.urdf", ".xml", "fixed"),
    ("leg.sdf", ".xml", "fixed"),
    ("leg.sdf", ".xml", "free"),
    ("walker.xml", ".xml", "fixed"),
    ("loop.urdf", ".xml", "fixed"),
]


@pytest.mark.parametrize(("name", "ending", "base"), FILES)
def test_round_trip(name, ending, base, tmp_path):
    first = mbgrad.import_file(CORPUS / name, base=base)
    path = tmp_path / f"again{ending}"
    first.export_file(path)
    second = mbgrad.import_file(path)
    assert second.check().degrees_of_freedom == first.check().degrees_of_freedom
    same(first.to_dict(), second.to_dict())
    # and the second file has the same elements
    third = tmp_path / f"third{ending}"
    second.export_file(third)
    tags = [re.findall("<[a-z]+", p.read_text()) for p in (path, third)]
    assert tags[0] == tags[1]


@pytest.mark.parametrize("name", ["arm.urdf", "leg.sdf", "walker.xml"])
def test_numbers_go_back(name, tmp_path):
    parameters = ["mass", "com", "inertia", "damping", "friction"]
    original, path = tmp_path / f"original-{name}", tmp_path / name
    original.write_text((CORPUS / name).read_text().replace('settotalmass="20"', ""))
    model = mbgrad.import_file(original, parameters=parameters)
    # nothing has changed: neither has the file
    model.export_file(path, into=original)
    assert path.read_bytes() == original.read_bytes()
    p = 1.25 * np.asarray(model.parameters)
    report = model.export_file(path, into=original, parameters=p)
    assert "written: mass, centre of mass and inertia of" in report
    again = mbgrad.import_file(path, parameters=parameters)
    assert again.parameters.names == model.parameters.names
    # of links that were merged, one takes the difference: some digits of the larger numbers are lost
    np.testing.assert_allclose(np.asarray(again.parameters), p, rtol=1e-12, atol=1e-15)


def test_springdamper_stays(tmp_path):
    """MuJoCo makes stiffness and damping of springdamper: what is written beside it has no effect."""
    path, again = tmp_path / "robot.xml", tmp_path / "again.xml"
    path.write_text(
        """<mujoco><worldbody><body name="b"><joint name="s" type="slide" springdamper="0.2 0.7"/>
        <geom type="sphere" size="0.1" mass="3"/></body></worldbody></mujoco>"""
    )
    model = mbgrad.import_file(path, parameters=["damping"])
    report = model.export_file(again, into=path, parameters=2 * np.asarray(model.parameters))
    assert "not written: damping of joint 's': springdamper gives it" in report
    assert again.read_text() == path.read_text()


def test_own_model(tmp_path):
    """A model that was never a file of a robot, at other parameters."""
    model = mbgrad.load("spatial-chain")
    path = tmp_path / "chain.xml"
    report = model.export_file(path)
    assert "start, signals, criteria" in report
    assert mbgrad.load(path).check().degrees_of_freedom == model.check().degrees_of_freedom
    # a loop that is open with all joints at zero is closed between sites
    model = mbgrad.load("four-bar")
    model.export_file(path)
    assert 'site1="D_axis_a"' in path.read_text()


def test_errors(tmp_path):
    loop = mbgrad.load(CORPUS / "loop.urdf")
    with pytest.raises(mbgrad.UnsupportedError, match="joint 'c' closes a loop, and URDF has trees only"):
        loop.export_file(tmp_path / "loop.urdf")
    with pytest.raises(ValueError, match="expected an ending"):
        loop.export_file(tmp_path / "loop.txt")
    with pytest.raises(mbgrad.FileError, match="absent"):
        loop.export_file(tmp_path / "loop.urdf", into=tmp_path / "absent.urdf")
    assert list(tmp_path.iterdir()) == []
