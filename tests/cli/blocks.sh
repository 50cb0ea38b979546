# models with blocks: the formulations agree on criteria and gradients, direct with adjoint and with differences;
# 5e-5: steps of lie are of order 2, and the fastest time constant is 20 of them
cat >servo.json <<'END'
{
  "mbgrad": 1,
  "parameters": { "kp": 30, "T": 0.04, "delay": 0.02, "R": 0.8 },
  "gravity": [0, -9.81, 0],
  "bodies": {
    "arm": { "motion": "planar", "mass": 2, "com": [0.3, 0, 0], "inertia": 0.1 },
    "rod": { "motion": "planar", "mass": 1, "com": [0.2, 0, 0], "inertia": 0.03, "position": [0.6, 0, 0] }
  },
  "joints": {
    "hinge": { "type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0] },
    "elbow": { "type": "revolute", "between": ["arm", "rod"], "at": [0.6, 0, 0] }
  },
  "signals": {
    "q": { "type": "coordinate", "joint": "hinge" },
    "p": { "type": "coordinate", "joint": "elbow" },
    "w": { "type": "rate", "joint": "elbow" }
  },
  "blocks": {
    "seen": { "type": "delay", "input": "q", "time": "delay", "order": 2 },
    "c": { "type": "pid", "input": "0.5*sin(3*t) - seen", "kp": "kp", "ki": 20, "kd": 3, "filter": 0.02, "min": -40, "max": 60 },
    "u": { "type": "lead-lag", "input": "c", "lead": 0.05, "lag": "T" },
    "m": { "type": "dc-motor", "joint": "hinge", "voltage": "u", "resistance": "R", "inductance": 0.01, "constant": 0.1, "gear": 10 },
    "calm": { "type": "low-pass", "input": "w", "frequency": 8 }
  },
  "forces": { "brake": { "type": "expression", "joint": "elbow", "force": "-0.4*calm - 2*p" } },
  "criteria": { "error": { "integral": "(0.5*sin(3*t) - q)^2" }, "heat": { "integral": "m_current^2" }, "end": { "terminal": "calm" } },
  "run": { "end": 0.4 }
}
END
python3 "$SRC/tests/cli/agree.py" servo.json 5e-5
# a run stops when the piston leaves the cylinder
cat >piston.json <<'END'
{
  "mbgrad": 1,
  "bodies": { "load": { "motion": "planar-point", "mass": 10, "position": [0.5, 0, 0] } },
  "joints": { "rail": { "type": "point-on-line", "between": ["ground", "load"], "at": [0, 0, 0], "axis": [1, 0, 0] } },
  "blocks": {
    "ram": { "type": "hydraulic-cylinder", "between": ["ground", "load"], "valve": "0.9", "area_a": 1e-3, "area_b": 1e-3,
      "volume_a": 1e-4, "volume_b": 2e-5, "length": 0.5, "bulk_modulus": 1e9, "flow": 1e-7, "supply": 1e7 }
  },
  "criteria": { "force": { "terminal": "ram" } },
  "run": { "end": 1, "step": 0.001 }
}
END
"$MBGRAD" simulate piston.json 2>&1 | grep error
# a state that nothing reads, and one that is too fast for explicit steps
cat >fast.json <<'END'
{
  "mbgrad": 1,
  "bodies": { "a": { "motion": "planar-point", "mass": 1 } },
  "joints": { "j": { "type": "point-on-line", "between": ["ground", "a"], "at": [0, 0, 0], "axis": [1, 0, 0] } },
  "signals": { "x": { "type": "coordinate", "joint": "j", "coordinate": "slide" } },
  "states": {
    "idle": { "rate": "x" },
    "fast": { "rate": "(cos(t) - fast)/1e-3", "initial": 2 }
  },
  "forces": { "f": { "type": "expression", "joint": "j", "coordinate": "slide", "force": "fast - x" } },
  "criteria": { "e": { "terminal": "x" } },
  "run": { "end": 0.1, "step": 0.005 }
}
END
"$MBGRAD" check fast.json 2>&1 | grep -E "note|energy"
"$MBGRAD" simulate fast.json --formulation dca --integrator rk4 --step 0.005 2>&1 | grep -E "warning|error"
