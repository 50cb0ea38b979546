"""A planar model file for Exudyn: revolute and point-on-line joints, springs, dampers, constant forces and torques."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


def _values(model: dict) -> dict[str, float]:
    names: dict[str, Any] = {k: getattr(math, k) for k in ("sin", "cos", "asin", "acos", "sqrt", "pi")}
    for key, parameter in model["parameters"].items():
        names[key] = float(parameter["value"])
    for key, constant in model.get("constants", {}).items():
        names[key] = _number(constant, names)
    return names


def _number(text: Any, names: dict[str, Any]) -> float:
    if isinstance(text, str):
        return float(eval(text.replace("^", "**"), {"__builtins__": {}}, names))
    return float(text)


class _Builder:
    """Bodies by name, with their centre of mass in axes of the body, and markers on them."""

    def __init__(self, model: dict) -> None:
        import exudyn as exu
        import exudyn.itemInterface as item

        self.item, self.model, self.names = item, model, _values(model)
        self.container = exu.SystemContainer()
        self.system = self.container.AddSystem()
        self.bodies = {"ground": self.system.AddObject(item.ObjectGround())}
        self.centre = {"ground": [0.0, 0.0]}
        for name, body in model["bodies"].items():
            self._body(name, body)
        for joint in model["joints"].values():
            self._joint(joint)
        for force in model.get("forces", {}).values():
            self._force(force)
        self.system.Assemble()

    def vector(self, values: list) -> list[float]:
        return [_number(v, self.names) for v in values]

    def _body(self, name: str, body: dict) -> None:
        x, y, _ = self.vector(body.get("position", [0, 0, 0]))
        cx, cy, _ = self.vector(body.get("com", [0, 0, 0]))
        angle = sum(_number(a, self.names) for _, a in body.get("rotate", []))
        c, s = math.cos(angle), math.sin(angle)
        node = self.system.AddNode(
            self.item.NodeRigidBody2D(referenceCoordinates=[x + c * cx - s * cy, y + s * cx + c * cy, angle])
        )
        self.bodies[name] = self.system.AddObject(
            self.item.ObjectRigidBody2D(
                physicsMass=_number(body["mass"], self.names),
                physicsInertia=_number(body["inertia"], self.names),
                nodeNumber=node,
            )
        )
        self.centre[name] = [cx, cy]
        gravity = self.vector(self.model.get("gravity", [0, 0, 0]))
        if any(gravity):
            marker = self.system.AddMarker(self.item.MarkerBodyMass(bodyNumber=self.bodies[name]))
            self.system.AddLoad(self.item.LoadMassProportional(markerNumber=marker, loadVector=gravity))

    def marker(self, name: str, point: list | None = None) -> int:
        if name in self.model.get("markers", {}):
            on = self.model["markers"][name]
            return self.marker(on["on"], on["at"])
        x, y, _ = self.vector(point or [0, 0, 0])
        local = [x - self.centre[name][0], y - self.centre[name][1], 0]
        return self.system.AddMarker(self.item.MarkerBodyPosition(bodyNumber=self.bodies[name], localPosition=local))

    def _joint(self, joint: dict) -> None:
        (a, b), (pa, pb) = joint["between"], joint["points"]
        if joint["type"] == "revolute":
            self.system.AddObject(
                self.item.ObjectJointRevolute2D(markerNumbers=[self.marker(a, pa), self.marker(b, pb)])
            )
            return
        # a point of b on the x axis of the ground: y of its centre is held
        node = self.system.GetObjectParameter(self.bodies[b], "nodeNumber")
        marker = self.system.AddMarker(self.item.MarkerNodeCoordinate(nodeNumber=node, coordinate=1))
        fixed = self.system.AddNode(self.item.NodePointGround())
        origin = self.system.AddMarker(self.item.MarkerNodeCoordinate(nodeNumber=fixed, coordinate=1))
        self.system.AddObject(self.item.ObjectConnectorCoordinate(markerNumbers=[origin, marker]))

    def _force(self, force: dict) -> None:
        if force["type"] == "spring-damper":
            a, b = force["between"]
            pa, pb = force.get("points", [None, None])
            self.system.AddObject(
                self.item.ObjectConnectorSpringDamper(
                    markerNumbers=[self.marker(a, pa), self.marker(b, pb)],
                    stiffness=_number(force["stiffness"], self.names),
                    damping=_number(force.get("damping", 0), self.names),
                    referenceLength=_number(force["rest"], self.names),
                )
            )
        elif force["type"] == "force":
            self.system.AddLoad(
                self.item.LoadForceVector(markerNumber=self.marker(force["on"]), loadVector=self.vector(force["force"]))
            )
        else:  # a constant torque on a body that turns about the ground
            body = self.model["joints"][force["joint"]]["between"][1]
            marker = self.system.AddMarker(
                self.item.MarkerBodyRigid(bodyNumber=self.bodies[body], localPosition=[0, 0, 0])
            )
            self.system.AddLoad(
                self.item.LoadTorqueVector(markerNumber=marker, loadVector=[0, 0, _number(force["force"], self.names)])
            )


def exudyn(model: dict, body: str, settings: Any) -> Callable[[], float]:
    """A function that simulates and returns the angle through which the body has turned."""
    import exudyn as exu

    made = _Builder(model)

    def simulate() -> float:
        made.system.SolveDynamic(settings, storeSolver=False)
        return float(made.system.GetObjectOutputBody(made.bodies[body], exu.OutputVariableType.Rotation, [0, 0, 0]))

    return simulate
