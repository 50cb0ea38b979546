# a rope whose length is a function of time, a control and a parameter: the same as a driver of the distance would give
cat >rope.json <<'END'
{
  "mbgrad": 1,
  "parameters": { "l0": 2, "rate": 0.3, "m": 2 },
  "controls": { "u": { "times": [0, 0.2, 0.6], "values": [0, "rate/9", 0.1], "interpolation": "cubic" } },
  "gravity": [0, 0, -9.81],
  "bodies": {
    "load": { "mass": "m", "inertia": [0.1, 0.2, 0.1], "position": [0.3, 0, "-sqrt(l0^2 - 0.09)"], "velocity": [0, 0.2, 0] },
    "tail": { "mass": 1, "motion": "point", "position": [0.3, 0, "-sqrt(l0^2 - 0.09) - 1"] }
  },
  "joints": {
    "rope": { "type": "distance", "between": ["ground", "load"], "length": "l0 - rate*t^2/2 + u" },
    "line": { "type": "distance", "between": ["load", "tail"], "length": 1 }
  },
  "signals": {
    "pull": { "type": "axial-force", "joint": "rope" },
    "d": { "type": "distance", "of": "load" },
    "dd": { "type": "distance-rate", "of": "load" },
    "u1": { "type": "control", "control": "u" }
  },
  "criteria": {
    "held": { "integral": "(d - l0 + rate*t^2/2 - u1)^2" },
    "work": { "integral": "pull*dd" },
    "last": { "integral": "pull" }
  },
  "run": { "end": 0.5 }
}
END
python3 "$SRC/tests/cli/agree.py" rope.json 2e-5 held=0
sed 's/l0 - rate\*t^2\/2 + u"/l0 - 5*t"/' rope.json >short.json
for f in lie dae qr ali3p dca; do "$MBGRAD" simulate short.json --formulation $f --step 0.01 2>&1 | grep -o "short.json.*"; done
