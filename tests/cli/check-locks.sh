# a second hinge across the first is named; one on the same line is fine
model() { # second joint, more
  cat >model.json <<END
{ "mbgrad": 1,
  "bodies": { "door": { "mass": 1, "inertia": [1, 1, 1] ${2:-} } },
  "joints": { "top": { "type": "revolute", "between": ["ground", "door"], "at": [0, 0, 1], "axis": [0, 0, 1] }, "second": $1 } }
END
  "$MBGRAD" check model.json 2>&1 | grep -E 'freedom  |lock'
}
hinge() { echo "{ \"type\": \"${3:-revolute}\", \"between\": [\"door\", \"ground\"], \"at\": $1, \"axis\": $2 }"; }
model "$(hinge '[0, 0, 0]' '[0, 0, -1]')"
model "$(hinge '[0, 0, 1]' '[1, 0, 0]')"
model "$(hinge '[0.3, 0, 0]' '[0, 0, 1]')"
model "$(hinge '[0.3, 0, 0]' '[0, 0, 1]')" ', "motion": "planar"'
model "$(hinge '[0, 0, 0]' '[0, 0, 1]' prismatic)"
# none of the gallery
for name in $("$MBGRAD" list | sed -nE 's/^([a-z][a-z-]*) .*/\1/p'); do
  "$MBGRAD" check "$name" 2>&1 | grep -q 'no freedom is left between' && echo "$name"
done
true
