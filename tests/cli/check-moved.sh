# a guess that does not fit: what was moved, and that it depends on the metric
cat >model.json <<'END'
{ "mbgrad": 1, "name": "crank", "note": "A guess that is off.", "gravity": [0, -9.81, 0],
  "bodies": {
    "crank": { "motion": "planar", "mass": 1, "inertia": 0.1, "position": [1, 0.1, 0] },
    "weight": { "motion": "planar-point", "mass": 2, "position": [2, 0, 0] } },
  "markers": { "left": { "on": "crank", "at": [-1, 0, 0] }, "right": { "on": "crank", "at": [1, 0, 0] } },
  "joints": {
    "pivot": { "type": "revolute", "between": ["ground", "left"] },
    "pin": { "type": "spherical", "between": ["right", "weight"] } },
  "signals": { "height": { "type": "position", "of": "weight", "component": "y" } } }
END
"$MBGRAD" check .
