# a kink at the parameter: the gradient is one-sided and the proof fails; what is linear or constant passes
cat >model.json <<'END'
{
  "mbgrad": 1, "name": "kink",
  "parameters": { "p": 1 },
  "gravity": [0, -9.81, 0],
  "bodies": { "bob": { "motion": "planar-point", "mass": 1, "position": [1, 0, 0] } },
  "joints": { "rod": { "type": "distance", "between": ["ground", "bob"], "length": 1 } },
  "signals": { "y": { "type": "position", "of": "bob", "component": "y" } },
  "criteria": { "kink": { "terminal": "y*if(p > 1, 2*p, p + 1)" }, "line": { "terminal": "y*(2 + 3*p)" }, "constant": { "terminal": "y" } },
  "run": { "end": 0.5, "step": 0.01 }
}
END
"$MBGRAD" check model.json --gradient >out
status=$?
tr -s '\n ' ' ' <out | grep -oE '(kink|line|constant) gradient (NOT proven: |proven exact)[^;=]*'
exit $status
