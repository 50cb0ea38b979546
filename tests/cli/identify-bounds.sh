# a parameter that is held at its bound: the data determine nothing, and no number is "nan"
cat >model.json <<'END'
{
  "mbgrad": 1,
  "parameters": {"k": {"value": 150, "min": 1, "max": 200}},
  "bodies": {"mass": {"motion": "planar-point", "mass": 1, "position": [1, 0, 0]}},
  "joints": {"rail": {"type": "point-on-line", "between": ["ground", "mass"], "at": [0, 0, 0], "axis": [1, 0, 0]}},
  "forces": {"spring": {"type": "spring-damper", "between": ["ground", "mass"], "along": "x", "stiffness": "k",
                        "damping": 0.1}},
  "signals": {"x": {"type": "position", "of": "mass", "component": "x"}},
  "criteria": {"fit": {"least_squares": "x", "data": "measured.csv", "column": "x", "sigma": 0.02}},
  "run": {"formulation": "dae", "end": 1, "step": 0.01}
}
END
printf 'time,x\n0,0.9858\n0.02,0.9767\n0.04,0\n' >measured.csv
"$MBGRAD" identify model.json >out
grep -A1 determine out
grep -c nan out
"$MBGRAD" identify model.json --json 2>/dev/null | grep condition
