# several errors in one go, each with its place
cat >wrong.json <<'END'
{ "mbgrad": 1,
  "bodies": { "bob": { "motion": "planer", "mass": -1 } },
  "joints": { "pin": { "type": "revolut", "between": ["ground", "bob"] } } }
END
"$MBGRAD" check wrong.json
