# a mechanism that cannot be closed
cat >apart.json <<'END'
{ "mbgrad": 1,
  "bodies": { "bob": { "motion": "planar-point", "mass": 1, "position": [1, 0, 0] } },
  "markers": { "far": { "on": "ground", "at": [9, 0, 0] } },
  "joints": { "left": { "type": "distance", "between": ["ground", "bob"], "length": 1 },
              "right": { "type": "distance", "between": ["far", "bob"], "length": 1 } } }
END
"$MBGRAD" check apart.json
