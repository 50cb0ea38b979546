# the error of the steps: verdicts, JSON, the search for a step, the choice of criteria
ball=$SRC/tests/reference/special/bouncing-ball.json
echo "# a ball that bounces: d height/d cf is +0.30, -3e-5, -0.035, -0.029, -0.032 at these steps, -0.03223 in truth"
for step in 2e-3 1e-3 5e-4 2.5e-4; do
  "$MBGRAD" gradient "$ball" --criteria height --step $step --json >out.json 2>/dev/null
  python3 - $step <<'END'
import json, sys
e = json.load(open("out.json"))
print(f"step {sys.argv[1]}:", "good" if e["error"]["small"] else "not good")
END
done
"$MBGRAD" check "$ball" --gradient --criteria height --step 2e-3 >out
echo "check: status $?"
sed -nE "3,6s/agree to [0-9]e-1[0-9]/agree to rounding/;3,6p" out

echo "# the first verdict: proven; the second in words"
"$MBGRAD" check five-bar --gradient --step 0.02 --no-error-estimate >/dev/null
echo "without an estimate: status $?"
"$MBGRAD" check five-bar --gradient --step 0.02 2>&1 >out | sed 's/^/  /'
grep -A2 'steps TOO LONG' out

echo "# a criterion that is zero"
"$MBGRAD" check "$SRC/tests/reference/special/zero-criterion.json" --gradient --criteria zero | sed -nE '3,9s/= -?[0-9.]+e-1[0-9]/= rounding/;3,9p'

cat >pendulum.json <<'END'
{ "mbgrad": 1, "parameters": { "l": 0.7, "m": 2 }, "gravity": [0, -9.81, 0],
  "bodies": { "bob": { "motion": "planar", "mass": "m", "inertia": 0.1, "position": ["l", 0, 0] } },
  "joints": { "pin": { "type": "revolute", "between": ["ground", "bob"], "at": [0, 0, 0] } },
  "signals": { "a": { "type": "coordinate", "joint": "pin" }, "F": { "type": "reaction", "joint": "pin", "component": "fx" } },
  "criteria": { "angle": { "terminal": "a" }, "load": { "integral": "F^2" } },
  "run": { "end": 2, "step": "auto", "accuracy": 1e-3 } }
END
echo "# found steps against qr"
"$MBGRAD" gradient pendulum.json --formulation qr --tolerance 1e-12 --json >exact.json
for options in "" "--accuracy 1e-4" "--accuracy 1e-6 --formulation ali3p" "--accuracy 1e-5 --formulation qr" "--accuracy 1e-6 --formulation dca" "--accuracy 1e-4 --formulation dae"; do
  "$MBGRAD" gradient pendulum.json $options --json >run.json 2>note
  accuracy=$(grep -o 'accuracy [0-9.e-]*' note | cut -d' ' -f2)
  python3 - "$accuracy" "$options" <<'END'
import json, sys
exact, run, accuracy = json.load(open("exact.json")), json.load(open("run.json")), float(sys.argv[1])
worst = 0
for name, c in run["criteria"].items():
    e = exact["criteria"][name]
    effects = [abs(c["gradient"][p] * v) for p, v in run["parameters"].items()]
    worst = max(worst, abs(c["value"] - e["value"]) / max(abs(c["value"]), max(effects)))
    for p, v in run["parameters"].items():
        scale = max(abs(c["gradient"][p] * v), 0.1 * max(effects))
        worst = max(worst, abs(c["gradient"][p] - e["gradient"][p]) * abs(v) / scale)
print(f"{sys.argv[2] or 'auto'}: accuracy {accuracy:g},", "met" if worst <= accuracy else f"missed: {worst:g}",
      "" if worst > 1e-3 * accuracy else "far too well")
END
done
"$MBGRAD" gradient pendulum.json --step 0.002 --criteria load --no-error-estimate | sed -n 3,10p
"$MBGRAD" gradient pendulum.json --criteria lode
"$MBGRAD" gradient pendulum.json --accuracy 2
"$MBGRAD" gradient pendulum.json --accuracy 1e-3 --step 0.1
sed -i 's/"step": "auto"/"step": 0.01/' pendulum.json
"$MBGRAD" check pendulum.json
