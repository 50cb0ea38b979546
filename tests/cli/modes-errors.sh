# what modes refuses
"$MBGRAD" modes quarter-car --at rest; echo "status $?"
"$MBGRAD" modes quarter-car --modes 0; echo "status $?"
"$MBGRAD" modes overhead-crane; echo "status $?"
"$MBGRAD" modes rotating-beam --at steady; echo "status $?"
"$MBGRAD" modes quarter-car --plot /no/such/folder/m.svg >out; echo "status $?"
"$MBGRAD" modes quarter-car --csv /no/such/folder/m.csv >out; echo "status $?"
# sizes that double precision cannot hold beside each other: named, and no number that is not finite
cat >stiff.json <<'END'
{
  "mbgrad": 1, "name": "stiff",
  "parameters": { "k": 100, "d": 1, "m": 1, "l": 0.5 },
  "gravity": [0, -9.81, 0],
  "bodies": { "a": { "motion": "planar", "mass": "m", "inertia": "m*l^2/12", "position": ["l/2", 0, 0] },
              "b": { "motion": "planar-point", "mass": 1, "position": ["l", -0.3, 0] } },
  "joints": { "p": { "type": "revolute", "between": ["ground", "a"], "at": [0, 0, 0] } },
  "forces": { "s": { "type": "spring-damper", "between": ["a", "b"], "stiffness": "k", "damping": "d", "rest": 0.3 } }
}
END
for set in k=1e12 k=1e14 k=1e300 d=1e20 d=1e300 l=1e20 m=1e-320; do
  "$MBGRAD" modes stiff.json --gradient --json --set $set >out 2>err
  echo "$set: status $?"
  sed -E 's/below [0-9.e+]+ Hz/below # Hz/' err
  python3 - "$set" <<'END'
import json, math, sys
try:
    text = open("out").read()
    for m in json.loads(text)["modes"] if text else []:
        assert all(math.isfinite(x) for x in [m["frequency"], m["damping"], m["share"], *m["eigenvalue"]]), m
        assert m["kind"] == "zero" or all(math.isfinite(x) for x in m["frequency_gradient"].values()), m
except AssertionError as e:
    print("not finite:", e)
END
done
