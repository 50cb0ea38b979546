"""Imported robots beside other programs: Pinocchio for URDF, MuJoCo for MJCF.

The robots lie in packages of python/requirements-judges.txt (example-robot-data, gymnasium) and -long.txt (dm_control,
gymnasium-robotics). A few of them make the fast tests; MBG_TEST_LONG=1 takes all and prints the counts of
docs/import.md. Folders in MBG_ROBOTS (separated by colons) are searched, too. Without a package its tests are skipped.
"""

from __future__ import annotations

import copy
import decimal
import importlib.metadata
import os
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

import mbgrad

LONG = os.environ.get("MBG_TEST_LONG") == "1"
FORMULATIONS = [str(f) for f in mbgrad.formulations()]
CORPUS = Path(__file__).parents[2] / "tests" / "fuzz" / "corpus"
STATES = 20
TOLERANCE = 1e-9

pytestmark = pytest.mark.filterwarnings("ignore")


def robots(packages: list[str], ending: str) -> list[Path]:
    """Return the files of packages and of the folders in MBG_ROBOTS."""
    found: set[Path] = set()
    for package in packages:
        try:
            files = importlib.metadata.files(package) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        found |= {Path(str(f.locate())).resolve() for f in files if f.suffix == ending}
    for folder in filter(None, os.environ.get("MBG_ROBOTS", "").split(":")):
        found |= {p.resolve() for p in Path(folder).rglob(f"*{ending}")}
    return sorted(found)


def word(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def with_states(data: dict, joints: list[str]) -> mbgrad.Model:
    """Return the model whose start is the parameters q and w, with the accelerations of these joints as signals."""
    data = copy.deepcopy(data)
    n = len(joints)
    data["parameters"] = {**data.get("parameters", {}), "q": {"value": [0.0] * n}, "w": {"value": [0.0] * n}}
    if n == 1:
        data["parameters"].update({"q": {"value": 0.0}, "w": {"value": 0.0}})
    entry = (lambda i: "") if n == 1 else (lambda i: f"[{i}]")
    data["initial"] = {
        "pin": {
            f"p{i}": {"joint": name, "value": f"q{entry(i)}", "rate": f"w{entry(i)}"} for i, name in enumerate(joints)
        }
    }
    used = ("coordinate", "rate", "expression") if any("force" in f for f in data["forces"].values()) else ()
    data["signals"] = {key: s for key, s in data["signals"].items() if s["type"] in used}  # in forces of tendons
    data["signals"] |= {f"a{i}": {"type": "coordinate-acceleration", "joint": name} for i, name in enumerate(joints)}
    data["criteria"] = {}
    data["run"] = {"formulation": "dca", "end": 1e-6, "step": 1e-6}
    return mbgrad.load(data)


def accelerations(model: mbgrad.Model, q: np.ndarray, w: np.ndarray, **settings) -> np.ndarray:
    value = (lambda x: float(x[0])) if len(q) == 1 else list
    run = model.simulate({"q": value(q), "w": value(w)}, poses=False, **settings)
    return np.array([run[f"a{i}"][0] for i in range(len(q))])


def relative(mine: np.ndarray, theirs: np.ndarray) -> float:
    """Return the largest error relative to the largest number; 1e-3 (rad/s^2, m/s^2) stands for a robot at rest."""
    return float(np.max(np.abs(mine - theirs)) / max(np.max(np.abs(theirs)), 1e-3))


def tell(count: dict[str, int], failures: list[str], errors: dict[str, dict[str, float]]) -> None:
    """Print the counts and the largest errors, for docs/import.md (pytest -s)."""
    print(count, *failures, sep="\n")
    for formulation in FORMULATIONS:
        own = [e[formulation] for e in errors.values() if formulation in e]
        print(f"{formulation}: {len(own)} robots, {max(own, default=0):.1e}")


# ---------------------------------------------------------------------- Pinocchio


class Judge:
    """A robot as Pinocchio reads it."""

    def __init__(self, path: Path) -> None:
        self.pin = pytest.importorskip("pinocchio")
        self.model = self.pin.buildModelFromUrdf(str(path))
        self.data = self.model.createData()
        self.joints = [self.model.joints[j] for j in range(1, self.model.njoints)]
        self.names = [word(self.model.names[j]) for j in range(1, self.model.njoints)]

    @property
    def simple(self) -> bool:
        return all(j.nv == 1 for j in self.joints)

    def state(self, q: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the vectors of Pinocchio for coordinates and rates in the order of `names`."""
        v = np.zeros(self.model.nv)
        x = self.pin.neutral(self.model)
        for i, j in enumerate(self.joints):
            x[j.idx_q : j.idx_q + j.nq] = [q[i]] if j.nq == 1 else [np.cos(q[i]), np.sin(q[i])]
            v[j.idx_v] = w[i]
        return x, v

    @property
    def order(self) -> np.ndarray:
        return np.array([j.idx_v for j in self.joints])

    def accelerations(self, q: np.ndarray, w: np.ndarray) -> np.ndarray:
        x, v = self.state(q, w)
        return np.array(self.pin.aba(self.model, self.data, x, v, np.zeros(self.model.nv)))[self.order]

    def equations(self, q: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mass matrix and bias forces, M a + b = 0, in the order of `names`."""
        x, v = self.state(q, w)
        M = np.array(self.pin.crba(self.model, self.data, x))
        b = np.array(self.pin.nonLinearEffects(self.model, self.data, x, v))
        return (np.triu(M) + np.triu(M, 1).T)[np.ix_(self.order, self.order)], b[self.order]


URDF_FAST = ("ur5_robot.urdf", "panda.urdf", "solo12.urdf", "anymal.urdf")


def urdf_files() -> list[Path]:
    pytest.importorskip("pinocchio")
    files = robots(["example-robot-data"], ".urdf")
    if not files:
        pytest.skip("example-robot-data is not installed (python/requirements-judges.txt)")
    return files if LONG else [f for f in files if f.name in URDF_FAST]


def bare(path: Path, **options) -> dict:
    data = mbgrad.import_file(path, without=["limits", "damping", "friction"], **options).to_dict()
    data.pop("couplings", None)  # Pinocchio leaves mimic joints free
    return data


def largest_error(judge: Judge, model: mbgrad.Model, generator, doubtful: list[str]) -> dict[str, float]:
    """Return the largest relative error of each formulation that takes the robot.

    Where two algorithms of the judge (articulated bodies, mass matrix) differ by more than a tenth of the tolerance,
    its accelerations are no measure of errors at the tolerance: the residual of its equations, M a + b, is,
    relative to the size of their terms. Such states are listed in `doubtful`.
    """
    n = len(judge.names)
    worst: dict[str, float] = {}
    for _ in range(STATES):
        q, w = generator.uniform(-2, 2, n), generator.uniform(-1, 1, n)
        theirs = judge.accelerations(q, w)
        M, b = judge.equations(q, w)
        apart = relative(np.linalg.solve(M, -b), theirs)
        if apart > TOLERANCE / 10:
            doubtful.append(f"{judge.model.name}: {apart:.1e} apart, condition {np.linalg.cond(M):.1e}")
        for formulation in FORMULATIONS:
            mine = accelerations(model, q, w, formulation=formulation)
            error = relative(mine, theirs)
            if apart > TOLERANCE / 10:
                size = np.linalg.norm(M) * np.linalg.norm(mine) + np.linalg.norm(b)
                assert np.linalg.norm(M @ mine + b) <= 1e-13 * size, (judge.model.name, formulation, error, apart)
                assert error <= 100 * apart, (judge.model.name, formulation, error, apart)
                error = 0.0
            worst[formulation] = max(worst.get(formulation, 0.0), error)
    return worst


def test_urdf_accelerations():
    generator = np.random.default_rng(1)
    count = {"files": 0, "loaded": 0, "imported": 0, "agree": 0, "singular": 0, "without freedoms": 0}
    failures, errors, doubtful = [], {}, []
    for path in urdf_files():
        count["files"] += 1
        try:
            judge = Judge(path)
        except ValueError:
            continue
        count["loaded"] += 1
        try:
            data = bare(path)
            count["imported"] += 1
            if not judge.names:
                count["without freedoms"] += 1
                continue
            n = len(judge.names)
            if not np.all(np.isfinite(judge.accelerations(np.full(n, 0.3), np.ones(n)))):
                count["singular"] += 1  # links without any inertia
                continue
            worst = largest_error(judge, with_states(data, judge.names), generator, doubtful)
        except mbgrad.Error as error:
            failures.append(f"{path.name}: {str(error)[:200]}")
            continue
        errors[str(path)] = worst
        if max(worst.values()) <= TOLERANCE and len(worst) == len(FORMULATIONS):
            count["agree"] += 1
        else:
            failures.append(f"{path}: {worst}")
    tell(count, failures, errors)
    print("states at which the judge's own algorithms differ:", *doubtful, sep="\n")
    assert len(doubtful) <= 0.002 * STATES * len(errors), doubtful
    assert count["imported"] >= 0.95 * count["loaded"], failures
    assert count["agree"] + count["singular"] + count["without freedoms"] >= count["imported"] - len(failures), failures
    assert not [f for f in failures if "negative" not in f and "moment" not in f], failures


def by_inertia(mass: float, com: np.ndarray) -> np.ndarray:
    """Return the derivative of Pinocchio's ten numbers of a body by mass, centre of mass and inertia about it.

    Pinocchio: m, m c, xx xy yy xz yz zz about the origin; here: m, c, xx yy zz xy xz yz about the centre of mass.
    """
    J = np.zeros((10, 10))
    J[0, 0] = 1
    J[1:4, 0] = com
    J[1:4, 1:4] = mass * np.eye(3)
    row = {(0, 0): 4, (0, 1): 5, (1, 1): 6, (0, 2): 7, (1, 2): 8, (2, 2): 9}
    column = {(0, 0): 4, (1, 1): 5, (2, 2): 6, (0, 1): 7, (0, 2): 8, (1, 2): 9}
    for (i, j), r in row.items():
        J[r, 0] = (i == j) * com @ com - com[i] * com[j]
        for k in range(3):
            J[r, 1 + k] = mass * (2 * (i == j) * com[k] - (k == i) * com[j] - (k == j) * com[i])
        J[r, column[i, j]] = 1
    return J


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_urdf_derivatives(formulation):
    """Derivatives of accelerations: computeABADerivatives, and by inertia the regressor, to 1e-9."""
    generator = np.random.default_rng(2)
    compared = 0
    for path in urdf_files():
        try:
            judge = Judge(path)
            data = bare(path, parameters=["mass", "com", "inertia"])
        except (ValueError, mbgrad.Error):
            continue  # counted by test_urdf_accelerations
        n = len(judge.names)
        if n == 0 or n > 40 or not np.all(np.isfinite(judge.accelerations(np.full(n, 0.3), np.ones(n)))):
            continue
        pin, order = judge.pin, judge.order
        q, w = generator.uniform(-2, 2, n), generator.uniform(-1, 1, n)
        x, v = judge.state(q, w)
        tau = np.zeros(judge.model.nv)
        pin.computeABADerivatives(judge.model, judge.data, x, v, tau)
        by_q = np.array(judge.data.ddq_dq)[np.ix_(order, order)]
        by_w = np.array(judge.data.ddq_dv)[np.ix_(order, order)]
        a = pin.aba(judge.model, judge.data, x, v, tau)
        regressor = np.array(pin.computeJointTorqueRegressor(judge.model, judge.data, x, v, a))
        by_numbers = -np.linalg.solve(judge.equations(q, w)[0], regressor[order])
        model = with_states(data, judge.names)
        value = (lambda y: float(y[0])) if n == 1 else list
        run = model.simulate({"q": value(q), "w": value(w)}, poses=False, formulation=formulation)
        first = np.zeros(len(run.t))
        first[0] = 1
        pulled = [run.vjp({f"a{i}": first}) for i in range(n)]
        compare = {"q": by_q, "w": by_w}
        for name, theirs in compare.items():
            mine = np.array([np.atleast_1d(g[name]) for g in pulled])
            assert relative(mine, theirs) <= TOLERANCE, (path.name, name)
        scale = max(np.max(np.abs(by_numbers)), 1e-3)  # as in relative(): rotors alone do not depend on their inertia
        for k, name in enumerate(judge.names):
            body = data["joints"][name]["between"][1].replace("-", "_")
            numbers = data["parameters"]
            J = by_inertia(numbers[f"mass_{body}"]["value"], np.array(numbers[f"com_{body}"]["value"]))
            theirs = by_numbers[:, 10 * k : 10 * k + 10] @ J
            mine = np.array([np.hstack([g[f"mass_{body}"], g[f"com_{body}"], g[f"inertia_{body}"]]) for g in pulled])
            assert np.max(np.abs(mine - theirs)) <= TOLERANCE * max(scale, np.max(np.abs(theirs))), (path.name, body)
        compared += 1
    print(compared, "robots")
    assert compared >= (40 if LONG else 2)


# ---------------------------------------------------------------------- MuJoCo

MJCF_FAST = ("gymnasium/envs/mujoco/assets/ant.xml", "gymnasium/envs/mujoco/assets/hopper.xml")
HINGE, SLIDE, FREE, BALL = 3, 2, 0, 1


def mjcf_files() -> list[Path]:
    pytest.importorskip("mujoco")
    files = robots(["dm-control", "gymnasium", "gymnasium-robotics"], ".xml")
    if not files:
        pytest.skip("gymnasium is not installed (python/requirements-judges.txt)")
    return files if LONG else [f for f in files if str(f).endswith(MJCF_FAST)]


class Walker:
    """A robot as MuJoCo reads it, without contacts, actuators, limits and fluids."""

    def __init__(self, path: Path) -> None:
        self.mujoco = mujoco = pytest.importorskip("mujoco")
        self.model = model = mujoco.MjModel.from_xml_path(str(path))
        off = mujoco.mjtDisableBit
        model.opt.disableflags |= off.mjDSBL_CONSTRAINT | off.mjDSBL_ACTUATION | off.mjDSBL_CONTACT
        model.opt.viscosity = model.opt.density = 0
        self.data = mujoco.MjData(model)
        unnamed = 0
        self.names = []
        for j in range(model.njnt):
            name = model.joint(j).name
            unnamed += not name
            self.names.append(word(name or f"joint_{unnamed}"))

    @property
    def has_meshes(self) -> bool:
        return bool(np.any(self.model.geom_type == self.mujoco.mjtGeom.mjGEOM_MESH))

    def take_inertia(self, bodies: dict) -> float:
        """Give MuJoCo the mass properties of imported bodies; return how far its own were from them.

        MuJoCo turns inertias to principal axes and stops where products are below 1e-12 kg m^2: too early for the light
        parts that have meshes.
        """
        m, apart = self.model, 0.0
        for b in range(1, m.nbody):
            body = bodies.get(word(m.body(b).name))
            if body is None:
                continue
            xx, yy, zz, xy, xz, yz = body["inertia"]
            mine = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            R = np.zeros(9)
            self.mujoco.mju_quat2Mat(R, m.body_iquat[b])
            R = R.reshape(3, 3)
            theirs = R @ np.diag(m.body_inertia[b]) @ R.T
            assert abs(body["mass"] - m.body_mass[b]) <= 1e-12 * body["mass"]
            error = float(np.max(np.abs(mine - theirs)) / max(np.max(np.abs(mine)), 1e-300))
            if error <= 1e-13:
                continue
            apart = max(apart, error)
            moments, axes = np.linalg.eigh(mine)
            axes[:, 2] *= np.sign(np.linalg.det(axes))
            m.body_inertia[b] = moments
            self.mujoco.mju_mat2Quat(m.body_iquat[b], axes.flatten())
            m.body_ipos[b] = body.get("com", [0, 0, 0])
            m.body_sameframe[b] = m.body_simple[b] = 0  # its frames are no longer those of the body
            for dof in range(m.body_dofadr[b], m.body_dofadr[b] + m.body_dofnum[b]):
                m.dof_simplenum[dof] = 0
        return apart

    def bodies(self, kind: int) -> list[tuple[int, str, str]]:
        """Return the joints of a kind with the bodies that they carry and those that carry these, by their words."""
        m, found, unnamed, words = self.model, [], 0, {0: ""}
        for b in range(1, m.nbody):
            unnamed += not m.body(b).name
            words[b] = word(m.body(b).name or f"body_{unnamed}")
        for j in range(m.njnt):
            if m.jnt_type[j] == kind:
                b = m.jnt_bodyid[j]
                found.append((j, words[b], words[m.body_weldid[m.body_parentid[b]]]))
        return found

    def set_state(self, run, state: dict[str, tuple[float, float]]) -> None:
        """Take coordinates and rates of hinges and slides; free bodies and balls stand and move as in the run."""
        m, d, zero = self.model, self.data, {}
        self.mujoco.mj_resetData(m, d)
        self.mujoco.mj_kinematics(m, d)
        for j, _, _ in self.bodies(BALL):  # the body in the one that carries it, the ball at its reference
            b = m.jnt_bodyid[j]
            zero[j] = d.xmat[m.body_weldid[m.body_parentid[b]]].reshape(3, 3).T @ d.xmat[b].reshape(3, 3)
        for j, name in enumerate(self.names):
            at, rate = m.jnt_qposadr[j], m.jnt_dofadr[j]
            if m.jnt_type[j] in (HINGE, SLIDE):
                d.qpos[at], d.qvel[rate] = m.qpos0[at] + state[name][0], state[name][1]
        for j, body, _ in self.bodies(FREE):
            at, rate = m.jnt_qposadr[j], m.jnt_dofadr[j]
            frame, R = run.frames[body], rotation(run, body)
            self.mujoco.mju_mat2Quat(d.qpos[at + 3 : at + 7], R.flatten())
            d.qpos[at : at + 3] = frame.position[0]
            d.qvel[rate : rate + 3], d.qvel[rate + 3 : rate + 6] = R @ frame.velocity[0], frame.angular_velocity[0]
        for j, body, parent in self.bodies(BALL):
            at, rate = m.jnt_qposadr[j], m.jnt_dofadr[j]
            G = rotation(run, parent).T @ rotation(run, body)
            self.mujoco.mju_mat2Quat(d.qpos[at : at + 4], (zero[j].T @ G).flatten())
            d.qvel[rate : rate + 3] = turning(run, body) - G.T @ turning(run, parent)

    def accelerations(self, run, state: dict[str, tuple[float, float]]) -> np.ndarray:
        """Return the accelerations at the start of a run, in the order of `mine`."""
        m, d = self.model, self.data
        self.set_state(run, state)
        self.mujoco.mj_forward(m, d)
        dofs = [m.jnt_dofadr[self.names.index(n)] for n in state]
        for kind, count in ((FREE, 6), (BALL, 3)):
            for j, _, _ in self.bodies(kind):
                dofs += list(range(m.jnt_dofadr[j], m.jnt_dofadr[j] + count))
        return np.array(d.qacc[dofs])

    def mine(self, run, n: int) -> np.ndarray:
        """Return the accelerations of mbgrad: of n hinges and slides, then of free bodies and of balls."""
        own = [run[f"a{i}"][0] for i in range(n)]
        for _, body, _ in self.bodies(FREE):
            own += [run[f"{kind}_{body}_{c}"][0] for kind in ("x", "r") for c in "xyz"]
        for _, body, parent in self.bodies(BALL):
            G, above, below = rotation(run, parent).T @ rotation(run, body), np.zeros(3), np.zeros(3)
            below[:] = [run[f"r_{body}_{c}"][0] for c in "xyz"]
            if parent:
                above[:] = [run[f"r_{parent}_{c}"][0] for c in "xyz"]
            carried = G.T @ turning(run, parent)  # d/dt (w - G^T w_parent) in axes of the body
            own += list(below - G.T @ above + np.cross(turning(run, body) - carried, carried))
        return np.array(own)


def rotation(run, body: str) -> np.ndarray:
    return np.asarray(run.frames[body].rotation[0]).reshape(3, 3) if body else np.eye(3)


def turning(run, body: str) -> np.ndarray:
    return np.asarray(run.frames[body].angular_velocity[0]) if body else np.zeros(3)


def moved_model(data: dict, names: list[str], walker: Walker) -> tuple[mbgrad.Model, int]:
    """Return the model as with_states has it, with random twists `base` of free bodies and of those on balls."""
    moving = [b for kind in (FREE, BALL) for _, b, _ in walker.bodies(kind)]
    model = with_states(data, names) if names else None
    data = model.to_dict() if model else {**data, "parameters": {}, "signals": {}, "criteria": {}, "initial": {}}
    data["run"] = {"formulation": "dca", "end": 1e-6, "step": 1e-6}
    for i, body in enumerate(moving):
        data["bodies"][body]["velocity"] = [f"base[{6 * i + k}]" for k in range(3)]
        data["bodies"][body]["angular_velocity"] = [f"base[{6 * i + 3 + k}]" for k in range(3)]
    if moving:
        data["parameters"]["base"] = {"value": [0.0] * (6 * len(moving))}
    for body in {b for kind in (FREE, BALL) for pair in walker.bodies(kind) for b in pair[1:] if b}:
        for c in "xyz":
            data["signals"][f"x_{body}_{c}"] = {"type": "acceleration", "of": body, "component": c}
            turn = {"type": "angular-acceleration", "of": body, "component": c, "in": "body"}
            data["signals"][f"r_{body}_{c}"] = turn
    return mbgrad.load(data), 6 * len(moving)


def mjcf_error(path: Path, walker: Walker, generator) -> dict[str, float]:
    data = mbgrad.import_file(path, without=["limits", "friction"]).to_dict()
    if walker.has_meshes:
        apart = walker.take_inertia(mbgrad.import_file(path, keep_fixed=True).to_dict()["bodies"])
        print(f"{path.name}: inertia of meshes {apart:.1e} apart")
        assert apart < 1e-6
    data["couplings"] = {k: c for k, c in data.get("couplings", {}).items() if k.endswith("_rotor")}
    data["joints"] = {k: j for k, j in data["joints"].items() if not j.get("cut")}
    m = walker.model
    names = [n for j, n in enumerate(walker.names) if m.jnt_type[j] in (HINGE, SLIDE)]
    if m.nv == 0:
        return {}
    forces = {k: f for k, f in data["forces"].items() if not k.startswith("drive_")}
    data["forces"] = {k: f for k, f in forces.items() if f.get("joint", names[0] if names else "") in [*names, ""]}
    data.pop("controls", None)
    data.pop("states", None)
    model, more = moved_model(data, names, walker)
    worst: dict[str, float] = {}
    for k in range(STATES):
        angle = np.array([m.jnt_type[walker.names.index(n)] == HINGE for n in names])
        q, w = generator.uniform(-1, 1, len(names)) * np.where(angle, 1, 0.1), generator.uniform(-1, 1, len(names))
        value = (lambda y: float(y[0])) if len(names) == 1 else list
        values = {"q": value(q), "w": value(w)} if names else {}
        values |= {"base": list(generator.uniform(-1, 1, more))} if more else {}
        for formulation in FORMULATIONS:
            if k > 0 and formulation not in worst:
                continue
            try:
                run = model.simulate(values, formulation=formulation)
            except mbgrad.SingularError:
                if formulation != "dca":  # wants inertia in every joint of a chain
                    raise
                continue
            theirs = walker.accelerations(run, {n: (q[i], w[i]) for i, n in enumerate(names)})
            worst[formulation] = max(worst.get(formulation, 0.0), relative(walker.mine(run, len(names)), theirs))
    return worst


def test_mjcf_accelerations():
    generator = np.random.default_rng(3)
    count = {"files": 0, "loaded": 0, "imported": 0, "agree": 0, "without freedoms": 0}
    failures, errors = [], {}
    for path in mjcf_files():
        count["files"] += 1
        try:
            walker = Walker(path)
        except ValueError:
            continue
        if walker.model.nbody == 1:
            continue  # materials and floors, for other files to include
        count["loaded"] += 1
        try:
            worst = mjcf_error(path, walker, generator)
        except mbgrad.Error as error:
            failures.append(f"{path}: {str(error)[:300]}")
            continue
        count["imported"] += 1
        if not worst:
            count["without freedoms"] += 1
            continue
        errors[str(path)] = worst
        if max(worst.values()) <= TOLERANCE:
            count["agree"] += 1
        else:
            failures.append(f"{path.name}: {worst}")
    tell(count, failures, errors)
    assert count["imported"] >= 0.95 * count["loaded"], failures
    assert not failures


BALL_ROBOT = """<mujoco><worldbody><body name="arm" pos="0.1 0 1" euler="10 20 30">
<joint name="b" type="ball" pos="0.02 0.1 0" stiffness="3" damping="0.2"/>
<inertial pos="0.1 0.2 -0.3" mass="1.5" fullinertia="0.03 0.04 0.02 0.001 -0.002 0.003"/>
</body></worldbody><keyframe><key name="k" qpos="0.7 0.4 -0.5 0.3" qvel="0.5 -0.8 0.6"/></keyframe></mujoco>"""


def test_mjcf_ball_spring(tmp_path):
    """Spring and damper of a ball joint, turned far and moving: MuJoCo to 1e-9."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "ball.xml"
    path.write_text(BALL_ROBOT)
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    data = mbgrad.import_file(path, start="k").to_dict()
    body = {"type": "angular-acceleration", "of": "arm", "in": "body"}
    data["signals"] = {x: {**body, "component": x} for x in "xyz"}
    data["criteria"], data["run"] = {}, {"end": 1e-6, "step": 1e-6}
    for formulation in FORMULATIONS:
        run = mbgrad.load(data).simulate(formulation=formulation)
        assert relative(np.array([run[x][0] for x in "xyz"]), d.qacc) <= TOLERANCE, formulation
    assert mbgrad.import_file(path, without=["damping"]).to_dict()["forces"]["bushing_b"]["damping"] == [0] * 6


def test_mjcf_tendons():
    """Tendons through sites, over pulleys and around geoms, springs with slack, actuators on them: MuJoCo to 1e-9."""
    mujoco = pytest.importorskip("mujoco")
    path = CORPUS / "tendons.xml"
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    imported = mbgrad.import_file(path)
    data = imported.to_dict()
    for i, name in enumerate(data["controls"]):
        data["controls"][name]["values"] = [0.4 + i, 0.4 + i]
    data["parameters"] = {"q": {"value": [0.0, 0.0]}, "w": {"value": [0.0, 0.0]}}
    data["initial"] = {
        "pin": {n: {"joint": n, "value": f"q[{i}]", "rate": f"w[{i}]"} for i, n in enumerate(("a", "b"))}
    }
    data["signals"] |= {f"a{i}": {"type": "coordinate-acceleration", "joint": n} for i, n in enumerate(("a", "b"))}
    data["criteria"], data["run"] = {}, {"end": 1e-6, "step": 1e-6}
    model = mbgrad.load(data)
    generator = np.random.default_rng(6)
    slack = set()
    for _ in range(STATES):
        q, w = generator.uniform(-0.25, 0.25, 2), generator.uniform(-1, 1, 2)
        d.qpos[:], d.qvel[:], d.ctrl[:] = m.qpos0 + q, w, [0.4, 1.4, 2.4]
        mujoco.mj_forward(m, d)
        slack |= {("string", bool(d.ten_length[1] > 0.9)), ("gap", bool(abs(d.ten_length[8]) > 0.1))}
        for formulation in FORMULATIONS:
            run = model.simulate({"q": list(q), "w": list(w)}, formulation=formulation)
            assert relative(np.array([run[f"a{i}"][0] for i in range(2)]), d.qacc) <= TOLERANCE, formulation
            for i, name in enumerate(("plain", "string", "rested", "tackle", "wound", "bowed", "driven")):
                assert abs(run[f"l_{name}"][0] - d.ten_length[i]) <= 1e-12, name
                assert abs(run[f"l_{name}_rate"][0] - d.ten_velocity[i]) <= 1e-11, name
            assert run["sensor_speed"][0] == run["l_wound_rate"][0]
    assert len(slack) == 4  # both sides of both


FRAMES = """<mujoco><default><default class="thin"><geom size="0.02"/><joint damping="0.3"/></default>
</default><worldbody>
<frame name="f" pos="0.1 0.2 0.5" euler="20 0 40" childclass="thin"><body name="one">
<frame pos="0 0 0.1" quat="1 0.2 0 0.3">
<joint name="a" axis="0 1 0.2" pos="0.01 0.02 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0.1"/>
<frame euler="0 30 0"><geom type="box" size="0.05 0.02 0.1" pos="0.1 0 0"/><site name="s" pos="0.2 0 0"/>
<body name="two" pos="0.3 0 0.1"><joint name="b" axis="1 0 0.5"/>
<geom type="capsule" fromto="0 0 0 0 0.2 0.1" class="main" size="0.03"/></body></frame></frame>
<geom size="0.05" pos="0 0.1 0"/></body></frame><frame pos="1 1 1"><site name="out"/></frame>
<body name="loose" pos="0 0 2"><joint name="fly" type="free" damping="0.4" stiffness="3"/>
<geom size="0.1" pos="0.1 0.2 0"/></body>
</worldbody><tendon><spatial name="t" stiffness="20" springlength="0.2"><site site="out"/><site site="s"/>
</spatial></tendon>
</mujoco>"""


def test_mjcf_frames(tmp_path):
    """Joints, geoms, sites and bodies in frames, and a free joint with spring and damper: MuJoCo to 1e-9."""
    path = tmp_path / "frames.xml"
    path.write_text(FRAMES)
    worst = mjcf_error(path, Walker(path), np.random.default_rng(7))
    assert len(worst) == len(FORMULATIONS)
    assert max(worst.values()) <= TOLERANCE, worst


# ---------------------------------------------------------------------- loops: Cassie


class Loops:
    """An SDF file of links, revolute, ball, fixed and gearbox joints: a tree in Pinocchio, and constraints on it."""

    def __init__(self, path: Path) -> None:
        import xml.etree.ElementTree as ET

        self.pin = pin = pytest.importorskip("pinocchio")
        root = ET.parse(path).getroot().find("model")
        assert root is not None
        self.links = {e.get("name"): self.pose(e) for e in root.iter("link")}
        self.model = pin.Model()
        self.at: dict[str, tuple[int, object]] = {}  # joint of a link, and where the link stands in it
        self.tree: dict[str, str] = {}  # joints of the tree and their children
        self.held: list = []  # pairs of frames, and their relative velocities that are zero
        self.gears: list[tuple[str, str, float]] = []
        self.inertials = {e.get("name"): e.find("inertial") for e in root.iter("link")}
        joints = [e for e in root.iter("joint") if e.get("type") != "gearbox"]
        carried: dict[str, ET.Element] = {}
        loops = []
        for e in joints:
            child = e.findtext("child") or ""
            loops += [e] if child in carried else []
            carried.setdefault(child, e)
        self.place_all(carried)
        for e in loops:
            self.close(e)
        for e in root.iter("joint"):
            if e.get("type") == "gearbox":
                self.couple(e, joints)
        self.data = self.model.createData()

    def pose(self, e):
        pose = e.find("pose")
        x = np.array([float(t) for t in pose.text.split()]) if pose is not None and pose.text else np.zeros(6)
        return self.pin.SE3(self.pin.rpy.rpyToMatrix(*x[3:]), x[:3])

    def frame(self, e):
        """Return the frame of a joint in the model, and its axis there."""
        H = self.links[e.findtext("child")] * self.pose(e)
        axis = e.find("axis")
        xyz = np.array([float(t) for t in axis.findtext("xyz").split()]) if axis is not None else np.array([0, 0, 1.0])
        xyz /= np.linalg.norm(xyz)
        old = axis is not None and axis.findtext("use_parent_model_frame") in ("1", "true")
        return H, xyz if old else H.rotation @ xyz

    def place_all(self, carried: dict) -> None:
        """Place parents before children and branch after branch: crba counts on the joints of a subtree in a row."""
        children: dict[str, list[str]] = {}
        for name in self.links:
            parent = carried[name].findtext("parent") if name in carried else ""
            children.setdefault(parent if parent != "world" else "", []).append(name)
        waiting = children.get("", [])[::-1]
        while waiting:
            name = waiting.pop()
            self.place(name, carried)
            waiting += children.get(name, [])[::-1]
        assert len(self.at) == len(self.links)

    def place(self, name: str, carried: dict) -> tuple:
        pin = self.pin
        if name in self.at:
            return self.at[name]
        if name not in carried:
            joint, own = 0, self.links[name]  # fixed to the ground
        else:
            e = carried[name]
            parent = e.findtext("parent")
            above, there = self.place(parent, carried) if parent != "world" else (0, pin.SE3.Identity())
            H, axis = self.frame(e)
            base = self.links[parent] if parent != "world" else pin.SE3.Identity()
            if e.get("type") == "fixed":
                joint, own = above, there * base.inverse() * self.links[name]
            else:
                kind = {
                    "ball": pin.JointModelSpherical,
                    "revolute": lambda: pin.JointModelRevoluteUnaligned(H.rotation.T @ axis),
                    "prismatic": lambda: pin.JointModelPrismaticUnaligned(H.rotation.T @ axis),
                }[e.get("type")]()
                joint = self.model.addJoint(above, kind, there * base.inverse() * H, e.get("name"))
                self.tree[e.get("name")] = name
                own = H.inverse() * self.links[name]
        self.at[name] = (joint, own)
        if joint > 0:
            self.model.appendBodyToJoint(joint, self.inertia(self.inertials[name]), own)
        return self.at[name]

    def inertia(self, e):
        pin = self.pin
        if e is None:
            return pin.Inertia(1.0, np.zeros(3), np.eye(3))
        H = self.pose(e)
        given = {k: float(e.findtext(f"inertia/{k}") or 0) for k in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")}
        full = np.array(
            [
                [given["ixx"], given["ixy"], given["ixz"]],
                [given["ixy"], given["iyy"], given["iyz"]],
                [given["ixz"], given["iyz"], given["izz"]],
            ]
        )
        return pin.Inertia(float(e.findtext("mass") or 1), H.translation, H.rotation @ full @ H.rotation.T)

    def close(self, e) -> None:
        """Add a frame with z along the axis to both links, and note which relative velocities are zero."""
        pin = self.pin
        H, axis = self.frame(e)
        other = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        other /= np.linalg.norm(other)
        world = pin.SE3(np.column_stack([other, np.cross(axis, other), axis]), H.translation)
        ends = []
        for side in ("parent", "child"):
            link = e.findtext(side)
            joint, own = self.at[link]
            local = own * self.links[link].inverse() * world
            name = f"{e.get('name')}_{side}"
            ends.append(self.model.addFrame(pin.Frame(name, joint, 0, local, pin.FrameType.OP_FRAME)))
        held = {"ball": [0, 1, 2], "revolute": [0, 1, 2, 3, 4], "prismatic": [0, 1, 3, 4, 5], "fixed": list(range(6))}
        self.held.append((*ends, held[e.get("type")]))

    def couple(self, e, joints) -> None:
        reference = e.findtext("gearbox_reference_body")
        one, two = (
            next(j.get("name") for j in joints if {j.findtext("parent"), j.findtext("child")} == {reference, link})
            for link in (e.findtext("parent"), e.findtext("child"))
        )
        self.gears.append((one, two, float(e.findtext("gearbox_ratio"))))

    def equations(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return M, b, J and g of M a + b = J^T lambda, J a + g = 0."""
        pin, m, d = self.pin, self.model, self.data
        M = np.array(pin.crba(m, d, q))
        M = np.triu(M) + np.triu(M, 1).T
        bias = np.array(pin.nonLinearEffects(m, d, q, v))
        pin.forwardKinematics(m, d, q, v, np.zeros(m.nv))
        pin.computeJointJacobians(m, d, q)
        pin.updateFramePlacements(m, d)
        local = pin.ReferenceFrame.LOCAL
        rows, drift = [], []
        for one, two, held in self.held:  # v = v2 - X v1 in axes of the second frame, and its rate
            X = (d.oMf[two].inverse() * d.oMf[one]).action
            v1, v2 = (pin.getFrameVelocity(m, d, f, local) for f in (one, two))
            a1, a2 = (pin.getFrameAcceleration(m, d, f, local).vector for f in (one, two))
            rate = a2 - X @ a1 + pin.Motion(v2.vector - X @ v1.vector).cross(pin.Motion(X @ v1.vector)).vector
            rows.append((pin.getFrameJacobian(m, d, two, local) - X @ pin.getFrameJacobian(m, d, one, local))[held])
            drift.append(rate[held])
        for one, two, ratio in self.gears:  # theta2 = -ratio theta1
            row = np.zeros((1, m.nv))
            row[0, m.joints[m.getJointId(two)].idx_v] = 1
            row[0, m.joints[m.getJointId(one)].idx_v] = ratio
            rows.append(row)
            drift.append(np.zeros(1))
        return M, bias, np.vstack(rows), np.hstack(drift)

    def accelerations(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Return the accelerations under the constraints, how far the rates violate these, and their condition.

        Orthonormal rows V stand for J = U S V, so that rows that nearly depend on each other cost digits once:
        [M, V^T; V, 0] (a, lambda) = (-b, -U^T g / S).
        """
        M, bias, J, g = self.equations(q, v)
        U, size, V = np.linalg.svd(J)
        rank = int(np.sum(size > 1e-10 * size[0]))  # of these files the others are below 1e-15
        V = V[:rank]
        K = np.block([[M, V.T], [V, np.zeros((rank, rank))]])
        x = np.linalg.solve(K, np.hstack([-bias, -(U.T @ g)[:rank] / size[:rank]]))
        return x[: len(M)], float(np.max(np.abs(J @ v))), float(size[0] / size[rank - 1])

    def exact(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the accelerations in 50 digits: [M, J^T; J, 0] with the independent rows of J, by elimination."""
        M, bias, J, g = self.equations(q, v)
        R, order = scipy.linalg.qr(J.T, mode="r", pivoting=True)
        size = np.abs(np.diag(R))
        J, g = (x[order[: np.sum(size > 1e-10 * size[0])]] for x in (J, g))
        K = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
        with decimal.localcontext(decimal.Context(prec=50)):
            A = np.array([[decimal.Decimal(x) for x in row] for row in np.column_stack([K, -np.hstack([bias, g])])])
            for k in range(len(A)):
                best = k + int(np.argmax(np.abs(A[k:, k])))
                A[[k, best]] = A[[best, k]]
                A[k, k:] /= A[k, k]
                others = np.arange(len(A)) != k
                A[others, k:] -= np.outer(A[others, k], A[k, k:])
            return A[: len(M), -1].astype(float)


def test_sdf_loops():
    """Accelerations of Cassie with her loops and gearboxes, on the way of a fall, to 1e-9.

    At the start the equations of the judge are solved in 50 digits: of `cassie.sdf` two rows nearly depend on the
    others (condition 5e6), and it is not clear beforehand whose digits are right.
    """
    pytest.importorskip("pinocchio")
    files = [f for f in robots(["example-robot-data"], ".sdf") if "cassie" in f.name]
    if not files:
        pytest.skip("example-robot-data is not installed (python/requirements-judges.txt)")
    for path in files:
        loops = Loops(path)
        pin, m = loops.pin, loops.model
        data = mbgrad.import_file(path, without=["limits", "damping", "friction"]).to_dict()
        single = [n for n in loops.tree if m.joints[m.getJointId(n)].nv == 1]
        data["forces"], data["criteria"] = {}, {}
        data["signals"] = {}
        for i, name in enumerate(single):
            for kind, letter in (("coordinate", "q"), ("rate", "w"), ("coordinate-acceleration", "a")):
                data["signals"][f"{letter}{i}"] = {"type": kind, "joint": word(name)}
        model = mbgrad.load(data)
        # redundant constraints of these files become independent as they move, by the digits of their axes
        redundant = bool(model.check().data["redundant"])
        run = model.simulate(formulation="qr", end=1e-6 if redundant else 0.05)
        for k in [0] if redundant else range(0, len(run.t), 5):
            q, v = pin.neutral(m), np.zeros(m.nv)
            for name, child in loops.tree.items():
                joint = m.joints[m.getJointId(name)]
                if name in single:
                    i = single.index(name)
                    q[joint.idx_q], v[joint.idx_v] = run[f"q{i}"][k], run[f"w{i}"][k]
                else:
                    at, rate = joint.idx_q, joint.idx_v
                    q[at : at + 4], v[rate : rate + 3] = ball(loops, run, k, name, child)
            mine = np.array([run[f"a{i}"][k] for i in range(len(single))])
            a, violated, condition = loops.accelerations(q, v)
            assert violated < 1e-9, path.name
            theirs = np.array([a[m.joints[m.getJointId(n)].idx_v] for n in single])
            worst = relative(mine, theirs)
            print(path.name, f"t = {run.t[k]:g} s: {worst:.1e}, condition {condition:.1e}")
            assert worst <= TOLERANCE, (path.name, k)
            if k == 0:
                exact = loops.exact(q, v)
                print(path.name, f"the judge in 50 digits: {relative(a, exact):.1e}")
                assert relative(a, exact) <= TOLERANCE, path.name
                theirs = np.array([exact[m.joints[m.getJointId(n)].idx_v] for n in single])
            for formulation in FORMULATIONS if k == 0 else []:
                start = model.simulate(formulation=formulation, end=1e-6, step=1e-6, poses=False)
                worst = relative(np.array([start[f"a{i}"][0] for i in range(len(single))]), theirs)
                print(path.name, f"{formulation}: {worst:.1e}")
                assert worst <= TOLERANCE, (path.name, formulation)


def ball(loops: Loops, run, k: int, name: str, child: str):
    """Return quaternion and rate of a ball joint, from the frames of its bodies."""
    pin, m = loops.pin, loops.model
    j = m.getJointId(name)
    frame = run.frames[word(child)]
    R = np.asarray(frame.rotation[k]).reshape(3, 3)
    own = loops.at[child][1].rotation  # the link in the joint
    above = m.parents[j]
    parent = next((link for link, (joint, _) in loops.at.items() if joint == above and word(link) in run.frames), None)
    base, rate = np.eye(3), np.zeros(3)
    if above > 0 and parent is not None:
        of = run.frames[word(parent)]
        base = np.asarray(of.rotation[k]).reshape(3, 3) @ loops.at[parent][1].rotation.T
        rate = np.asarray(of.rotation[k]).reshape(3, 3) @ of.angular_velocity[k]
    base = base @ m.jointPlacements[j].rotation
    joint = R @ own.T
    turned = pin.Quaternion(base.T @ joint).coeffs()
    return turned, joint.T @ (R @ frame.angular_velocity[k] - rate)
