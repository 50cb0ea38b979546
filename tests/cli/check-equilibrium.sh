# a start in static equilibrium: the weight hangs 9.81/100 m below the rest length of its spring
cat >hang.json <<'END'
{ "mbgrad": 1, "parameters": { "k": 100 }, "gravity": [0, 0, -9.81],
  "bodies": { "weight": { "motion": "point", "mass": 1, "position": [0, 0, -0.4] } },
  "joints": { "guide": { "type": "point-on-line", "between": ["ground", "weight"] } },
  "forces": { "spring": { "type": "spring-damper", "between": ["ground", "weight"], "stiffness": "k", "rest": 0.5 } },
  "signals": { "z": { "type": "position", "of": "weight", "component": "z" },
               "az": { "type": "acceleration", "of": "weight", "component": "z" } },
  "initial": { "start": "equilibrium" } }
END
"$MBGRAD" check hang.json | sed 's/found in [0-9]* steps/found/'
