"""Rods hinged together, planar or spatial, for every peer: chains and windows of any size.

A mechanism is a list of rods (length 1, mass 1, uniform) and a list of hinges between their ends; each builder below
makes the same mechanism for one program and returns a function that simulates it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

GRAVITY = 9.81


@dataclass
class Rods:
    """Planar rods from their first end at ``places``, turned by ``angles``; hinges (rod or -1, end, rod, end, x, y)."""

    places: list[tuple[float, float]] = field(default_factory=list)
    angles: list[float] = field(default_factory=list)
    hinges: list[tuple[int, float, int, float, float, float]] = field(default_factory=list)
    rate: float = 0.0  # of all upright rods at the start

    def add(self, x: float, y: float, angle: float) -> int:
        self.places.append((x, y))
        self.angles.append(angle)
        return len(self.places) - 1


def chain(count: int) -> Rods:
    """Rods in a row that fall from the horizontal."""
    rods = Rods()
    for i in range(count):
        rods.add(i, 0, 0)
        rods.hinges.append((i - 1, 1, i, 0, i, 0))
    return rods


def windows(count: int) -> Rods:
    """Four-bar windows in a row (IFToMM A02): uprights on the ground and a lintel between two of them."""
    rods = Rods(rate=-1.0)
    upright = [rods.add(i, 0, math.pi / 2) for i in range(count + 1)]
    for i in range(count + 1):
        rods.hinges.append((-1, 0, upright[i], 0, i, 0))
    for i in range(count):
        lintel = rods.add(i, 1, 0)
        rods.hinges.append((upright[i], 1, lintel, 0, i, 1))
        rods.hinges.append((lintel, 1, upright[i + 1], 1, i + 1, 1))
    return rods


def upright(rods: Rods, i: int) -> bool:
    return rods.angles[i] > 1


def model(rods: Rods, end: float, step: float, formulation: str) -> dict:
    """For mbgrad. The first rod's free end is watched; the masses of all rods are one parameter."""
    name = [f"r{i}" for i in range(len(rods.places))]
    bodies = {
        name[i]: {
            "motion": "planar",
            "mass": "m",
            "inertia": "m/12",
            "com": [0.5, 0, 0],
            "position": [*rods.places[i], 0],
            "rotate": [["z", rods.angles[i]]],
        }
        for i in range(len(name))
    }
    joints = {
        f"h{k}": {"type": "revolute", "between": ["ground" if a < 0 else name[a], name[b]], "at": [x, y, 0]}
        for k, (a, _, b, _, x, y) in enumerate(rods.hinges)
    }
    initial = {"pin": {"first": {"joint": "h0", "coordinate": "angle", "value": 0, "rate": rods.rate}}}
    return {
        "mbgrad": 1,
        "name": "rods",
        "parameters": {"m": {"value": 1, "min": 0.1, "max": 10}},
        "gravity": [0, -GRAVITY, 0],
        "bodies": bodies,
        "joints": joints,
        "markers": {"tip": {"on": name[0], "at": [1, 0, 0]}},
        "signals": {"y": {"type": "position", "of": "tip", "component": "y"}},
        "criteria": {"y_end": {"terminal": "y"}},
        **({"initial": initial} if rods.rate else {}),
        "run": {"formulation": formulation, "end": end, "step": step, "rho_inf": 0.8},
    }


def alpha_settings(end: float, step: float):
    """Generalized-alpha of index 3 with modified Newton and sparse matrices, in one thread, without files."""
    import exudyn as exu

    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(end / step)
    settings.timeIntegration.endTime = end
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
    settings.timeIntegration.generalizedAlpha.useIndex2Constraints = False
    settings.timeIntegration.generalizedAlpha.useNewmark = False
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    settings.solutionSettings.writeSolutionToFile = False
    settings.linearSolverType = exu.LinearSolverType.EigenSparse
    settings.parallel.numberOfThreads = 1
    return settings


def exudyn(rods: Rods, end: float, step: float) -> Callable[[], float]:
    """For Exudyn: planar rigid bodies and revolute joints."""
    import exudyn as exu
    import exudyn.itemInterface as item

    container = exu.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(item.ObjectGround())
    bodies = []
    for i, ((x, y), angle) in enumerate(zip(rods.places, rods.angles, strict=True)):
        c, s = math.cos(angle), math.sin(angle)
        rate = rods.rate if upright(rods, i) else 0.0
        lift = rods.rate if rods.rate and not upright(rods, i) else 0.0
        node = system.AddNode(
            item.NodeRigidBody2D(
                referenceCoordinates=[x + c / 2, y + s / 2, angle],
                initialVelocities=[-rate * s / 2 - lift, rate * c / 2, rate],
            )
        )
        bodies.append(system.AddObject(item.ObjectRigidBody2D(physicsMass=1, physicsInertia=1 / 12, nodeNumber=node)))
        centre = system.AddMarker(item.MarkerBodyMass(bodyNumber=bodies[-1]))
        system.AddLoad(item.LoadMassProportional(markerNumber=centre, loadVector=[0, -GRAVITY, 0]))
    for a, end_a, b, end_b, x, y in rods.hinges:
        at = [x, y, 0] if a < 0 else [end_a - 0.5, 0, 0]
        first = system.AddMarker(item.MarkerBodyPosition(bodyNumber=ground if a < 0 else bodies[a], localPosition=at))
        second = system.AddMarker(item.MarkerBodyPosition(bodyNumber=bodies[b], localPosition=[end_b - 0.5, 0, 0]))
        system.AddObject(item.ObjectJointRevolute2D(markerNumbers=[first, second]))
    system.Assemble()
    settings = alpha_settings(end, step)

    def simulate() -> float:
        system.SolveDynamic(settings, storeSolver=False)
        return float(system.GetObjectOutputBody(bodies[0], exu.OutputVariableType.Displacement, [0.5, 0, 0])[1])

    return simulate


# ---------------------------------------------------------------- spatial chains, as `mbgrad new chain` has them


def mjcf(count: int, step: float) -> str:
    """For MuJoCo and Pinocchio: rods along x, hinged about y and z in turn."""
    text = "".join(
        f'<body pos="{1 if i else 0} 0 0"><joint type="hinge" axis="{"0 0 1" if i % 2 else "0 1 0"}"/>'
        f'<inertial pos="0.5 0 0" mass="1" diaginertia="0.01 {1 / 12!r} {1 / 12!r}"/>'
        for i in range(count)
    )
    return (
        f'<mujoco><compiler angle="radian" boundmass="0" boundinertia="0"/>'
        f'<option timestep="{step!r}" integrator="RK4" gravity="0 0 -{GRAVITY}">'
        f'<flag contact="disable" constraint="disable"/></option><worldbody>'
        + text
        + '<site name="tip" pos="1 0 0"/>'
        + "</body>" * count
        + "</worldbody></mujoco>"
    )


def pinocchio(count: int):
    """The chain as a model of Pinocchio."""
    import numpy as np
    import pinocchio as pin

    model, joint = pin.Model(), 0
    model.gravity.linear = np.array([0, 0, -GRAVITY])
    body = pin.Inertia(1.0, np.array([0.5, 0, 0]), np.diag([0.01, 1 / 12, 1 / 12]))
    for i in range(count):
        place = pin.SE3(np.eye(3), np.array([1.0 if i else 0.0, 0, 0]))
        joint = model.addJoint(joint, pin.JointModelRZ() if i % 2 else pin.JointModelRY(), place, f"j{i}")
        model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    return model
