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


CONTACTS = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" pos="0 0 0.1" friction="0.7"/>
<body name="ball" pos="0 0 {z}"><freejoint/><geom type="sphere" size="0.05" mass="2"/></body>
<body name="crate" pos="1 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="3" friction="1.2"/></body>
<body name="ghost" pos="2 0 1"><freejoint/><geom type="sphere" size="0.1" mass="5" contype="0" conaffinity="0"/></body>
<body name="pole" pos="3 0 1"><freejoint/><geom type="capsule" size="0.1 0.2" mass="1" group="3"/></body>
</worldbody></mujoco>"""


def test_contacts(tmp_path):
    path = tmp_path / "drop.xml"
    path.write_text(CONTACTS.format(z=1))
    assert "contacts" not in mbgrad.import_file(path).to_dict()
    k = 11 * 9.81 / 1e-3  # the weight of all bodies at 1 mm
    z = 0.1 + 0.05 - (2 * 9.81 / k + 0.5e-4)  # the depth counts from half the width on
    path.write_text(CONTACTS.format(z=repr(z)))
    data = mbgrad.import_file(path, contacts=True).to_dict()
    groups = {tuple(g["between"][0]): g for g in data["contacts"].values()}
    assert set(groups) == {("ball", "pole"), ("crate",)}  # what the larger friction of both says
    assert groups["ball", "pole"]["friction"] == 1
    assert groups["crate",]["friction"] == 1.2
    assert data["markers"]["plane_1"] == {"on": "ground", "at": [0, 0, 0.1]}
    data["signals"] = {"a": {"type": "acceleration", "of": "ball", "component": "z"}}
    data["criteria"] = {}
    run = mbgrad.load(data).simulate(formulation="lie", end=1e-4, step=1e-4)
    assert abs(run["a"][0]) < 1e-9 * 9.81 * k * 1e-3  # it lies still: rounding of the depth, times k
    with pytest.raises(mbgrad.InputError, match="contacts: only MJCF"):
        mbgrad.import_file(CORPUS / "arm.urdf", contacts=True)


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
    assert "<actuator>" not in model.import_report
    # two names that become one are kept apart; the sixth actuator follows its control with a lag
    assert list(data["controls"]) == ["u_m", "u_p", "u_v_1", "u_v_1_2", "u_actuator_5", "u_filtered"]
    assert list(data["states"]) == ["act_filtered"]
    q, w, u, act = 0.4, -0.6, [0.3, 0.5, -0.2, 0.9, 0.8, 1.1], 0.35
    for name, value in zip(data["controls"], u, strict=True):
        data["controls"][name]["values"] = [value, value]
    data["initial"] = {"pin": {"start": {"joint": "j", "value": q, "rate": w}}}
    data["signals"] = {"a": {"type": "coordinate-acceleration", "joint": "j"}}
    data["criteria"], data["gravity"] = {}, [0, 0, 0]
    data["states"]["act_filtered"]["initial"] = act
    # the coordinate of MuJoCo is q + ref
    length, position = q + 0.2, 2 * (q + 0.2)
    torque = 3 * u[0] + 2 * (5 * u[1] - 5 * position - 0.5 * 2 * w) + 0.7 * (u[2] - w) + u[3]
    torque += 2 * u[4] + 1 - 2 * length - 3 * w + act
    mass = 1000 * 0.2**3
    inertia = mass * (0.04 / 6 + 0.09)
    run = mbgrad.load(data).simulate(end=1e-6, step=1e-6, formulation="lie")
    assert run["a"][0] == pytest.approx(torque / inertia, rel=1e-12)
    assert (run["act_filtered"][1] - act) / 1e-6 == pytest.approx((u[5] - act) / 0.1, rel=1e-4)


def test_errors_of_actuators(tmp_path):
    robot = tmp_path / "robot.xml"
    robot.write_text(ACTUATORS.replace('joint="j" gear="3"', 'joint="k" gear="3"'))
    with pytest.raises(mbgrad.InputError, match=r"robot\.xml:3:1: <motor>: there is no joint 'k'"):
        mbgrad.load(robot)


# ---------------------------------------------------------------------- starts, polynomials, inertia

KEYS = """<mujoco><compiler angle="radian"/><worldbody>
<body name="b" pos="1 0 0"><joint name="j" axis="0 1 0" ref="0.2"/>
<geom type="box" size="0.1 0.1 0.1" pos="0.3 0 0"/><body name="c" pos="0.5 0 0"><joint name="s" type="slide"/>
<geom type="sphere" size="0.1"/></body></body><body name="d"><freejoint/><geom size="0.1"/></body></worldbody>
<actuator><motor name="m" joint="j"/><general name="f" joint="j" dyntype="filter" dynprm="0.1"/></actuator>
<keyframe><key name="up" qpos="0.9 0.4 1 2 3 0 0 0 1" qvel="-1 0.3 1 2 3 4 5 6" act="0.7" ctrl="0.8 0.9"/></keyframe>
</mujoco>"""


def test_start(tmp_path):
    robot = tmp_path / "robot.xml"
    robot.write_text(KEYS)
    assert "left out: keyframe 'up': the option start takes it" in mbgrad.import_file(robot).import_report
    model = mbgrad.import_file(robot, start="up")
    assert "keyframe" not in model.import_report
    run = model.simulate(end=1e-4, step=1e-4)
    start = [run[name][0] for name in ("q_j", "w_j", "q_s", "w_s", "act_f")]
    np.testing.assert_allclose(start, [0.7, -1, 0.4, 0.3, 0.7], rtol=1e-12)
    free = run.frames["d"]
    np.testing.assert_allclose(free.position[0], [1, 2, 3], rtol=1e-14)
    # turned half a turn about z: the velocity is given in the world, the angular one in the body
    np.testing.assert_allclose(free.velocity[0], [-1, -2, 3], rtol=1e-14)
    np.testing.assert_allclose(free.angular_velocity[0], [4, 5, 6], rtol=1e-14)
    assert [c["values"][0] for c in model.to_dict()["controls"].values()] == [0.8, 0.9]
    with pytest.raises(mbgrad.InputError, match="there is no keyframe 'upp'; did you mean 'up'"):
        mbgrad.import_file(robot, start="upp")


def test_polynomial_couplings(tmp_path):
    robot = tmp_path / "robot.xml"
    equality = '<equality><joint joint1="j" joint2="s" polycoef="0.1 0.5 -2 3 4"/></equality>'
    robot.write_text(KEYS.replace("<actuator>", f"{equality}<actuator>"))
    model = mbgrad.import_file(robot)
    data = model.to_dict()
    data["initial"] = {"pin": {"s": {"joint": "s", "value": 0.3, "rate": 0.2}}}
    run = mbgrad.load(data).simulate(end=0.1)
    q, x = run["q_j"], run["q_s"]
    np.testing.assert_allclose(q, 0.1 + 0.5 * x - 2 * x**2 + 3 * x**3 + 4 * x**4, atol=1e-9)
    assert np.ptp(x) > 1e-3


def test_springs_by_inertia(tmp_path):
    robot = tmp_path / "robot.xml"
    robot.write_text(
        """<mujoco><worldbody><body name="b"><joint name="s" type="slide" springdamper="0.2 0.7"/>
        <geom type="sphere" size="0.1" mass="3"/></body></worldbody>
        <actuator><position name="p" joint="s" kp="12" dampratio="0.5" gear="2"/></actuator></mujoco>"""
    )
    forces = mbgrad.import_file(robot).to_dict()["forces"]
    # one mass: k = m/(T z)^2, c = 2 m/T; kv = 2 z sqrt(kp m/gear^2), times gear^2 on the joint
    assert forces["s_damper"]["stiffness"] == pytest.approx(3 / 0.14**2, rel=1e-14)
    assert forces["s_damper"]["damping"] == pytest.approx(30, rel=1e-14)
    assert float(forces["drive_p"]["force"].split(" - ")[-1].removesuffix("*v")) == pytest.approx(12, rel=1e-14)


def test_nested_and_included_models():
    model = mbgrad.import_file(CORPUS / "cart.sdf", base="free")
    assert model.name == "yard"
    assert model.check().degrees_of_freedom == 8
    bodies = model.to_dict()["bodies"]
    c, s = np.cos(0.5), np.sin(0.5)
    # the hub of the left wheel is at (0.3, -0.3, 0.2) of the cart, the frame of the right one 0.6 beside it
    expected = {"cart__left__rim": (0.3, -0.25), "cart__rim": (0.3, 0.1), "cart__body": (0, 0)}
    for name, (x, y) in expected.items():
        height = 0.4 if name == "cart__body" else 0.2
        np.testing.assert_allclose(bodies[name]["position"], [1 + c * x - s * y, s * x + c * y, height], atol=1e-15)
    assert set(bodies) == set(expected)  # what is static is none


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


def test_second_parent_closes_a_loop(tmp_path):
    """A link of URDF with two parents: the second joint is a loop, as in SDF and <loop_joint>."""
    body = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'
    joint = """<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><origin xyz="{}"/>
    <axis xyz="0 1 0"/></joint>"""
    bars = [("a", "base", "crank", "0 0 0"), ("b", "crank", "rod", "0 0 0.2"), ("c", "base", "rocker", "0.5 0 0")]
    path = tmp_path / "four-bar.urdf"
    path.write_text(
        '<robot name="four">'
        + '<link name="base"/>'
        + "".join(f'<link name="{n}">{body}</link>' for n in ("crank", "rod", "rocker"))
        + "".join(joint.format(*bar) for bar in [*bars, ("d", "rod", "rocker", "0.5 0 -0.2")])
        + "</robot>"
    )
    model = mbgrad.import_file(path)
    assert "note: link 'rocker' is the child of joint 'c' already: joint 'd' closes a loop" in model.import_report
    assert model.to_dict()["joints"]["d"]["cut"]
    assert model.check().degrees_of_freedom == 1


def test_weld_by_relpose(tmp_path):
    """Bodies are welded as relpose says: the second one in the frame of the first."""
    path = tmp_path / "weld.xml"
    path.write_text(
        """<mujoco><worldbody><body name="a"><joint name="x" type="slide"/><geom size="0.1"/></body>
        <body name="b"><freejoint/><geom size="0.1"/></body></worldbody>
        <equality><weld body1="a" body2="b" relpose="0.1 0.2 0.3 1 0.2 0 0"/></equality></mujoco>"""
    )
    data = mbgrad.import_file(path).to_dict()
    data["initial"] = {"pin": {"p": {"joint": "x", "value": 0.4}}}
    run = mbgrad.load(data).simulate(formulation="lie", end=0.01, step=0.01)
    np.testing.assert_allclose(run.frames["b"].position[0] - run.frames["a"].position[0], [0.1, 0.2, 0.3], atol=1e-12)
    turn = np.asarray(run.frames["b"].rotation[0]).reshape(3, 3)  # half the angle about x has the tangent 0.2
    c, s = 0.96 / 1.04, 0.4 / 1.04
    np.testing.assert_allclose(turn, [[1, 0, 0], [0, c, -s], [0, s, c]], atol=1e-12)


ROPES = """<mujoco><worldbody><site name="hook" pos="0 0 1"/><site name="nail" pos="0.6 0 1"/>
<geom name="drum" type="cylinder" size="0.05 0.1" pos="0.13 0 0.6" euler="90 0 0"/>
<body name="left" pos="0 0 0.5"><joint name="l" type="slide" axis="0 0 1"/><geom size="0.05" mass="1"/>
<site name="one" pos="0.2 0 0"/></body>
<body name="right" pos="0.5 0 0.5"><joint name="r" type="slide" axis="0 0 1"/><geom size="0.05" mass="2"/>
<site name="two"/></body>
</worldbody><tendon><spatial name="a"><site site="hook"/><geom geom="drum"/><site site="one"/></spatial>
<spatial name="b" range="0.2 0.6"><site site="nail"/><site site="two"/></spatial>
<fixed name="f" range="-0.1 0.1" damping="1"><joint joint="l" coef="0.5"/></fixed></tendon>
<equality>%s</equality></mujoco>"""


def test_held_tendons(tmp_path):
    """A spatial tendon that keeps its length, around a cylinder; two that change against each other."""
    path = tmp_path / "ropes.xml"
    path.write_text(ROPES % '<tendon name="e" tendon1="a" polycoef="0.01"/>')
    model = mbgrad.import_file(path, without=["limits"])
    assert model.check().degrees_of_freedom == 1
    a, b, radius = np.array([-0.13, 0.4]), np.array([0.07, -0.1]), 0.05  # from the axle
    tangents = [np.sqrt(p @ p - radius**2) for p in (a, b)]
    turn = np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    arc = turn - sum(np.arccos(radius / np.linalg.norm(p)) for p in (a, b))
    held = model.to_dict()["couplings"]["equality_e"]
    assert held["length"] == pytest.approx(sum(tangents) + radius * arc + 0.01, rel=1e-14)
    data = model.to_dict()
    data["signals"]["length"] = {"type": "tendon", "coupling": "equality_e", "quantity": "length"}
    assert mbgrad.load(data).simulate(end=0.1)["length"][-1] == pytest.approx(held["length"], rel=1e-10)
    path.write_text(ROPES % '<tendon name="e" tendon1="a" tendon2="b" polycoef="0 -2"/>')
    held = mbgrad.import_file(path).to_dict()["couplings"]["equality_e"]
    assert [x["ratio"] for x in held["branches"]] == [1, 2]
    path.write_text(ROPES % '<tendon name="e" tendon1="a" tendon2="b" polycoef="0 2"/>')
    model = mbgrad.import_file(path)
    assert "<tendon> in <equality> that is no linear relation" in model.import_report
    # limits: 1000 N at 5 mm; nothing where the tendon is within its range
    forces = model.to_dict()["forces"]
    assert forces["tendon_b"]["preload"] == "0 + 8000000000*max(l_b - 0.6, 0)^3 - 8000000000*max(0.2 - l_b, 0)^3"
    assert forces["tendon_f_l"]["force"].endswith("- 4000000000*max(l_f - 0.1, 0)^3 + 4000000000*max(-0.1 - l_f, 0)^3")


def test_reports_of_sdf(tmp_path):
    """Nothing of a joint is dropped silently; mimic of an axis is a coupling."""
    model = mbgrad.import_file(CORPUS / "spring.sdf")
    for text in (
        "<velocity> in <limit>",
        "<physics> in <joint>",
        "limits, springs, damping and friction of universal joints",
    ):
        assert f"left out: {text}" in model.import_report
    coupling = model.to_dict()["couplings"]["w"]
    assert coupling["terms"] == [{"joint": "w", "factor": 1}, {"joint": "h", "factor": -2}]
    assert coupling["constant"] == pytest.approx(0.1 - 2 * 0.3, rel=1e-15)
