"""Robots from URDF, SDF and MJCF; test_import_judges.py holds them against other programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbgrad

CORPUS = Path(__file__).parents[2] / "tests" / "fuzz" / "corpus"


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


ACTUATORS = """<mujoco><compiler angle="radian"/><worldbody><body name="b"><joint name="j" axis="0 1 0" ref="0.2"/>
<geom type="box" size="0.1 0.1 0.1" pos="0.3 0 0"/></body></worldbody><actuator>
<motor name="m" joint="j" gear="3"/><position name="p" joint="j" kp="5" kv="0.5" gear="2"/>
<velocity name="v-1" joint="j" kv="0.7"/><motor name="v_1" joint="j"/>
<general joint="j" gainprm="2" biastype="affine" biasprm="1 -2 -3"/>
<general name="filtered" joint="j" dyntype="filter" dynprm="0.1"/></actuator></mujoco>"""


def test_actuators(tmp_path):
    robot = tmp_path / "robot.xml"
    robot.write_text(ACTUATORS)
    model = mbgrad.import_file(robot)
    data = model.to_dict()
    assert "left out: <general> in <actuator>" in model.import_report
    # two names that become one are kept apart; the sixth actuator has dynamics and is left out
    assert list(data["controls"]) == ["u_m", "u_p", "u_v_1", "u_v_1_4", "u_actuator_5"]
    q, w, u = 0.4, -0.6, [0.3, 0.5, -0.2, 0.9, 0.8]
    for name, value in zip(data["controls"], u, strict=True):
        data["controls"][name]["values"] = [value, value]
    data["initial"] = {"pin": {"start": {"joint": "j", "value": q, "rate": w}}}
    data["signals"] = {"a": {"type": "coordinate-acceleration", "joint": "j"}}
    data["criteria"], data["gravity"] = {}, [0, 0, 0]
    # the coordinate of MuJoCo is q + ref
    length, position = q + 0.2, 2 * (q + 0.2)
    torque = 3 * u[0] + 2 * (5 * u[1] - 5 * position - 0.5 * 2 * w) + 0.7 * (u[2] - w) + u[3]
    torque += 2 * u[4] + 1 - 2 * length - 3 * w
    mass = 1000 * 0.2**3
    inertia = mass * (0.04 / 6 + 0.09)
    a = mbgrad.load(data).simulate(end=1e-6, step=1e-6, formulation="lie")["a"][0]
    assert a == pytest.approx(torque / inertia, rel=1e-12)


def test_errors_of_actuators(tmp_path):
    robot = tmp_path / "robot.xml"
    robot.write_text(ACTUATORS.replace('joint="j" gear="3"', 'joint="k" gear="3"'))
    with pytest.raises(mbgrad.InputError, match=r"robot\.xml:3:1: <motor>: there is no joint 'k'"):
        mbgrad.load(robot)


# ---------------------------------------------------------------------- meshes

# a U of nine cubes: corners in the plane, triangles of its face
CORNERS = [(0, 0), (3, 0), (3, 4), (2, 4), (2, 1), (1, 1), (1, 4), (0, 4)]
FACE = [(0, 1, 5), (1, 4, 5), (1, 2, 4), (2, 3, 4), (0, 5, 6), (0, 6, 7)]


def prism() -> tuple[np.ndarray, list[tuple[int, int, int]]]:
    n = len(CORNERS)
    vertices = np.array([(x, y, z) for z in (0, 1) for x, y in CORNERS], float)
    sides = [(i, (i + 1) % n) for i in range(n)]
    triangles = [(a, c, b) for a, b, c in FACE] + [(a + n, b + n, c + n) for a, b, c in FACE]
    for i, j in sides:
        triangles += [(i, j, j + n), (i, j + n, i + n)]
    return vertices, triangles


def with_mesh(tmp_path: Path, name: str, attributes: str = "", geom: str = 'density="1"') -> mbgrad.Model:
    robot = tmp_path / "robot.xml"
    robot.write_text(
        f"""<mujoco><asset><mesh name="m" file="{name}" {attributes}/></asset>
        <worldbody><body name="b"><joint/><geom type="mesh" mesh="m" {geom}/></body></worldbody></mujoco>"""
    )
    return mbgrad.import_file(robot)


def body_of(model: mbgrad.Model) -> dict:
    return model.to_dict()["bodies"]["b"]


def test_mass_of_meshes(tmp_path):
    vertices, triangles = prism()
    obj = "".join(f"v {x} {y} {z}\n" for x, y, z in vertices) + "".join(
        f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in triangles
    )
    (tmp_path / "u.obj").write_text(obj)
    exact = body_of(with_mesh(tmp_path, "u.obj", 'inertia="exact"'))
    # nine cubes: the sum of their masses, moments and products
    cubes = np.array([(x, y) for x in (0, 2) for y in range(4)] + [(1, 0)]) + 0.5
    com = cubes.mean(axis=0)
    xx = 9 / 6 + np.sum((cubes[:, 1] - com[1]) ** 2)
    yy = 9 / 6 + np.sum((cubes[:, 0] - com[0]) ** 2)
    assert exact["mass"] == pytest.approx(9, rel=1e-14)
    np.testing.assert_allclose(exact["com"], [*com, 0.5], rtol=1e-14)
    np.testing.assert_allclose(exact["inertia"][:3], [xx, yy, xx + yy - 9 / 6], rtol=1e-13)
    # the preset of the format counts hollows twice; numbers of MuJoCo 4.0
    preset = body_of(with_mesh(tmp_path, "u.obj"))
    assert preset["mass"] == pytest.approx(11.594218741718345, rel=1e-14)
    assert sorted(preset["inertia"][:3]) == pytest.approx([9.95942187, 15.28781113, 23.48781113], rel=1e-9)
    # scaled, turned and moved, with a mass of its own
    moved = body_of(
        with_mesh(tmp_path, "u.obj", 'inertia="exact" scale="2 2 2" refpos="1.5 0 0.5"', 'mass="3" pos="0 0 1"')
    )
    assert moved["mass"] == pytest.approx(3, rel=1e-14)
    np.testing.assert_allclose(moved["com"], [0, 2 * com[1], 1], atol=1e-14)
    np.testing.assert_allclose(moved["inertia"][0], xx * 4 / 3, rtol=1e-13)
    # the format of MuJoCo itself
    header = np.array([len(vertices), 0, 0, len(triangles)], "<i4").tobytes()
    msh = header + vertices.astype("<f4").tobytes() + np.array(triangles, "<i4").tobytes()
    (tmp_path / "u.msh").write_bytes(msh)
    del exact["shape"]  # pictures do not know this format
    assert body_of(with_mesh(tmp_path, "u.msh", 'inertia="exact"')) == exact


def test_errors_of_meshes(tmp_path):
    with pytest.raises(mbgrad.InputError, match="its mass needs the mesh 'm', whose file is not there"):
        with_mesh(tmp_path, "absent.stl")
    (tmp_path / "bad.msh").write_bytes(b"0123456789abcdef")
    with pytest.raises(mbgrad.InputError, match=r"bad\.msh: no mesh of the format \.msh"):
        with_mesh(tmp_path, "bad.msh")
    loose = np.array([3, 0, 0, 1], "<i4").tobytes() + np.eye(3, dtype="<f4").tobytes()
    (tmp_path / "loose.msh").write_bytes(loose + np.array([0, 1, 3], "<i4").tobytes())
    with pytest.raises(mbgrad.InputError, match="triangle 1 has a vertex that is not there"):
        with_mesh(tmp_path, "loose.msh")
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(mbgrad.InputError, match="the mesh 'm' has no volume"):
        with_mesh(tmp_path, "flat.obj")
    with pytest.raises(mbgrad.InputError, match='inertia="shell" is not computed: expected legacy or exact'):
        with_mesh(tmp_path, "flat.obj", 'inertia="shell"')
