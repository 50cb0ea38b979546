"""Robots of the gallery: importing the file beside the model gives its bodies, markers, joints and forces."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import mbgrad

GALLERY = Path(__file__).resolve().parents[2] / "gallery"
ROBOTS = {
    "ur-arm": ("arm.urdf", {"keep_fixed": True, "without": ["limits"]}),
    "quadruped": ("quadruped.urdf", {"without": ["limits"]}),
    "cassie-leg": ("leg.sdf", {}),
    "delta-robot": ("delta.xml", {}),
    "stewart-platform": ("stewart.sdf", {}),
}


def same(mine, theirs, values: dict) -> bool:
    """Return whether an entry of the model is that of the import, with names of parameters for some numbers."""
    if isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(same(mine[k], theirs[k], values) for k in mine)
    if isinstance(theirs, list):
        return len(mine) == len(theirs) and all(same(a, b, values) for a, b in zip(mine, theirs, strict=True))
    if isinstance(mine, str) and not isinstance(theirs, str):
        name, index = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", mine).groups()
        value = values[name]["value"]
        return (value[int(index)] if index else value) == theirs
    return mine == theirs


@pytest.mark.parametrize("name", ROBOTS)
def test_import_gives_the_model(name):
    file, options = ROBOTS[name]
    imported = mbgrad.import_file(GALLERY / name / file, **options).to_dict()
    model = json.loads((GALLERY / name / "model.json").read_text())
    for section in ("bodies", "markers", "joints", "couplings", "forces"):
        for key, entry in imported.get(section, {}).items():
            assert same(model[section][key], entry, model["parameters"]), (section, key)
    assert model["gravity"] == imported["gravity"]
    assert model["bodies"].keys() == imported["bodies"].keys()
    assert model["joints"].keys() == imported["joints"].keys()


def test_torques_of_the_arm():
    """Torques of the motors of ur-arm, without friction, beside inverse dynamics of Pinocchio on arm.urdf."""
    pin = pytest.importorskip("pinocchio")
    robot = pin.buildModelFromUrdf(str(GALLERY / "ur-arm" / "arm.urdf"))
    data = json.loads((GALLERY / "ur-arm" / "model.json").read_text())
    joints = list(data["drivers"])
    assert joints == list(robot.names)[1:]
    data |= {"forces": {}, "criteria": {}, "runs": {}}
    data["parameters"] = {k: p for k, p in data["parameters"].items() if k.startswith("load")}
    for name in joints:
        for kind, letter in (("coordinate", "q"), ("rate", "w"), ("coordinate-acceleration", "a")):
            data["signals"][f"{letter}_{name}"] = {"type": kind, "joint": name}
    run = mbgrad.load(data).simulate(end=1, tolerance=1e-10)
    for k in range(0, len(run.t), 5):
        q, w, a, mine = (np.array([run[f"{letter}_{name}"][k] for name in joints]) for letter in "qwaM")
        theirs = np.array(pin.rnea(robot, robot.createData(), q, w, a))
        assert np.max(np.abs(mine - theirs)) <= 1e-9 * np.max(np.abs(theirs))
