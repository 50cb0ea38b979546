# odd but no error: freedoms without inertia, unused parameters, values outside their bounds
cat >odd.json <<'END'
{ "mbgrad": 1,
  "parameters": { "unused": 3, "rho": { "value": 0.5, "count": 3, "min": 0, "max": 1 } },
  "bodies": { "arm": { "mass": 1, "inertia": ["rho[0]", 1, 1], "position": [1, 0, 0] }, "ghost": { "mass": 0 } },
  "joints": { "hinge": { "type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1] } },
  "signals": { "ax": { "type": "acceleration", "of": "arm", "component": "x" } },
  "criteria": { "last": { "terminal": "ax" } } }
END
"$MBGRAD" check odd.json --set rho=2 --set 'rho[1]=0.25'
