# a step that fails because a friction or a stop is a jump for it names the force and the number that smooths it
cat >friction.json <<'END'
{ "mbgrad": 1, "parameters": { "T": 0.5 },
  "gravity": [0, 0, -9.81],
  "bodies": { "rotor": { "mass": 1, "inertia": [0.01, 0.01, 0.02], "angular_velocity": [0, 0, 5] },
              "arm": { "mass": 1, "inertia": [0.1, 0.1, 0.1], "position": [0.5, 0, 0] } },
  "joints": { "axle": { "type": "revolute", "between": ["ground", "rotor"], "at": [0, 0, 0], "axis": [0, 0, 1] },
              "elbow": { "type": "revolute", "between": ["rotor", "arm"], "at": [0, 0, 0], "axis": [0, 1, 0] } },
  "forces": { "brake": { "type": "friction", "joint": "axle", "torque": "T", "rate_scale": 1e-6 },
              "rub": { "type": "friction", "joint": "elbow", "torque": 0.1, "rate_scale": 0.1 } },
  "signals": { "a": { "type": "coordinate", "joint": "axle" } },
  "criteria": { "J": { "terminal": "a" } },
  "run": { "end": 2, "step": 0.01 } }
END
short() { sed -E 's/iterations \(.*worst/iterations (... worst/'; }
for f in lie dae ali3p; do
  "$MBGRAD" gradient friction.json --formulation $f 2>&1 | short
done
# enough smoothing for the step
sed -i 's/1e-6/0.02/' friction.json
"$MBGRAD" gradient friction.json >/dev/null && echo done
