# forces and torques whose components are expressions of signals: the formulations agree on criteria and gradients
cat >wrench.json <<'END'
{
  "mbgrad": 1,
  "parameters": { "k": 20, "c": 0.7, "m": 2 },
  "gravity": [0, 0, -9.81],
  "bodies": {
    "arm": { "mass": 3, "com": [0.5, 0, 0], "inertia": [0.02, 0.3, 0.3] },
    "rod": { "mass": "m", "com": [0.4, 0.1, 0], "inertia": [0.05, 0.2, 0.2], "position": [1, 0, 0] },
    "free": { "mass": 1, "inertia": [0.1, 0.2, 0.3], "position": [0, 1, 0], "angular_velocity": [0.5, 1, 2] }
  },
  "joints": {
    "hinge": { "type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 1, 0] },
    "elbow": { "type": "universal", "between": ["arm", "rod"], "at": [1, 0, 0], "axis": [0, 1, 0], "axis2": [0, 0, 1] }
  },
  "signals": {
    "x": { "type": "position", "of": "free", "relative_to": "rod", "component": "x" },
    "y": { "type": "position", "of": "free", "relative_to": "rod", "component": "y" },
    "z": { "type": "position", "of": "free", "relative_to": "rod", "component": "z" },
    "vz": { "type": "velocity", "of": "free", "component": "z" },
    "w": { "type": "angular-velocity", "of": "free", "component": "y" },
    "roll": { "type": "euler-angle", "of": "free", "sequence": "zyx", "angle": "third" },
    "bend": { "type": "coordinate", "joint": "hinge" },
    "both": { "type": "expression", "value": "sin(roll)*bend + 0.2*w" },
    "f": { "type": "force", "force": "tie", "component": "fy", "in": "world" },
    "h": { "type": "position", "of": "rod", "component": "z" }
  },
  "forces": {
    "tie": { "type": "force", "between": ["rod", "free"], "force": "-k*[x, y, z] - c*[0, 0, vz]", "torque": ["-c*w", "-0.5*both", 0] },
    "twist": { "type": "force", "on": "arm", "torque": [0, "-2*both*t", "x*y"], "force": [0, "w*z", 0], "in": "body" }
  },
  "criteria": { "tied": { "integral": "f^2" }, "end": { "terminal": "h" }, "mix": { "integral": "x*vz" } },
  "run": { "end": 0.4 }
}
END
python3 "$SRC/tests/cli/agree.py" wrench.json 2e-5
# a wrench may not use what depends on forces
sed 's/"-c\*w"/"-c*a"/; s/"f": { "type": "force", "force": "tie", "component": "fy"/"a": { "type": "acceleration", "of": "rod", "component": "x" }, &/' wrench.json >loop.json
"$MBGRAD" check loop.json 2>&1 | grep error
