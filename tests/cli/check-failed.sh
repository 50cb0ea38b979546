# nothing holds it: there is no equilibrium, and the run fails
cat >fall.json <<'END'
{ "mbgrad": 1, "gravity": [0, 0, -9.81],
  "bodies": { "weight": { "motion": "point", "mass": 1, "position": [0, 0, -1] } },
  "initial": { "start": "equilibrium" } }
END
"$MBGRAD" check fall.json 2>err
status=$?
grep -c '^mbgrad: error: ' err
exit $status
