# what dca cannot run: the time is 0, not rounding, and no formulation is named that fails too
cat >model.json <<'END'
{ "mbgrad": 1, "parameters": { "m": 1 }, "gravity": [0, 0, -9.81],
  "bodies": { "link": { "mass": 0, "position": [0.5, 0, 0] },
              "end": { "mass": "m", "inertia": [0.1, 0.1, 0.1], "position": [1.5, 0, 0] } },
  "joints": { "j": { "type": "universal", "between": ["ground", "link"], "at": [0, 0, 0], "axis": [0, 1, 0], "axis2": [0, 0, 1] },
              "k": { "type": "spherical", "between": ["link", "end"], "at": [1, 0, 0] } },
  "signals": { "x": { "type": "position", "of": "end", "component": "x" } },
  "criteria": { "J": { "terminal": "x" } }, "run": { "end": 0.1, "step": 0.01 } }
END
"$MBGRAD" gradient model.json --formulation dca
