# force in a rod: pendulum on a distance joint, released at 90 degrees: m (g cos(phi) + l phid^2) = 3 m g cos(phi);
# a resting weight on two ropes: m g/sqrt(2); the same in every formulation, with its gradient
cat >swing.json <<'END'
{
  "mbgrad": 1,
  "parameters": { "m": 2, "l": 1.5 },
  "gravity": [0, 0, -9.81],
  "bodies": {
    "bob": { "mass": "m", "inertia": [0.1, 0.2, 0.1], "position": ["l", 0, 0], "angular_velocity": [0.1, 0.2, 0] },
    "hung": { "mass": "m", "motion": "point", "position": [0, 5, -1] }
  },
  "joints": {
    "rod": { "type": "distance", "between": ["ground", "bob"], "points": [[0, 0, 0], [0, 0, 0]], "length": "l" },
    "left": { "type": "distance", "between": ["ground", "hung"], "points": [[-1, 5, 0], [0, 0, 0]], "length": "sqrt(2)" },
    "right": { "type": "distance", "between": ["ground", "hung"], "points": [[1, 5, 0], [0, 0, 0]], "length": "sqrt(2)" }
  },
  "signals": {
    "pull": { "type": "axial-force", "joint": "rod" },
    "rope": { "type": "axial-force", "joint": "right" },
    "fx": { "type": "reaction", "joint": "rod", "component": "fx", "in": "world" },
    "fy": { "type": "reaction", "joint": "rod", "component": "fy", "in": "world" },
    "fz": { "type": "reaction", "joint": "rod", "component": "fz", "in": "world" },
    "z": { "type": "position", "of": "bob", "component": "z" }
  },
  "criteria": {
    "same": { "integral": "(pull^2 - fx^2 - fy^2 - fz^2)^2" },
    "law": { "integral": "(pull + 3*m*9.81*z/l)^2" },
    "ropes": { "terminal": "rope" },
    "sum": { "integral": "pull" }
  },
  "run": { "end": 0.5 }
}
END
python3 "$SRC/tests/cli/agree.py" swing.json 1e-5 ropes=13.8734350 same=0 law=0
