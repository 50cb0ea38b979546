# the suspension of the paper: three starts, one optimum, feasible at every step, only candidates differentiated
k=0
for start in "" "--set k=20000 --set c=800" "--set k=90000 --set c=9000"; do
  "$MBGRAD" optimize quarter-car-design $start --json >"$k.json" || echo "status $?"
  k=$((k + 1))
done
python3 - <<'PY'
import json
runs = [json.load(open("%d.json" % k)) for k in range(3)]
first = runs[0]
print(sorted(first))
print(sorted(first["parameters"]["k"]), sorted(first["constraints"][0]), sorted(first["history"][0]))
for r in runs:
    print(r["status"], r["converged"], r["feasible"], "at most 30 iterations:", r["iterations"] <= 30,
          "- feasible to 1e-6:", r["violation"] <= 1e-6, "- optimal to 1e-6:", r["optimality"] <= 1e-6,
          "- few of", r["points"], "points:", r["points_differentiated"] <= 30)
    print("  active:", *(c["name"] for c in r["constraints"] if c["active"]))
    # 4 digits: the optima are one
    print("  same:", all(abs(r["parameters"][n]["value"] / first["parameters"][n]["value"] - 1) < 5e-5 for n in ("k", "c")))
    best = [h["best"] for h in r["history"] if h["best"] is not None]
    print("  best never rises:", all(a >= b for a, b in zip(best, best[1:])))
PY
# four optimizers, one answer to 5 digits; conlin creeps along a constraint, and its objective has 4
for name in slsqp mma ipopt conlin; do
  "$MBGRAD" optimize spring-balanced-arm --optimizer $name --json >"$name.json" || echo "status $?"
done
python3 - <<'PY'
import json
a, *others = (json.load(open(n + ".json")) for n in ("slsqp", "mma", "ipopt", "conlin"))
for other in others:
    print(other["optimizer"], all(abs(other["parameters"][n]["value"] / a["parameters"][n]["value"] - 1) < 5e-6 for n in ("k", "h", "a")),
          abs(other["objective"] / a["objective"] - 1) < (5e-5 if other["optimizer"] == "conlin" else 5e-6))
PY
# for readers; plots; the design as a model file, which needs nothing more
"$MBGRAD" optimize spring-balanced-arm --output plots --write designed.json | sed -E \
  's/[0-9]+ (iterations|evaluations|gradients|of them were|times)/N \1/g; s/-?[0-9.]+e-[0-9]+/X/g; s/-?[0-9]+\.[0-9]+/Y/g; s/ +/ /g; s/(spring max 300) .*/\1 .../; s/optimality [^ ]*/optimality X/; /^ spring Y X$/d'
grep -c '<svg' plots/history.svg
"$MBGRAD" optimize designed.json --quiet --restart again && echo "lines of the record: $(grep -c . again)"
# springs that hold the linkage: known from statics
"$MBGRAD" optimize five-bar-design --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
p = r["parameters"]
print(r["optimizer"], abs(p["L01"]["value"] - 2.4319235744575836) < 1e-6, abs(p["L02"]["value"] - 1.844868886805388) < 1e-6, r["gradient"] < 1e-6 * r["gradient_start"])'
# a stress limit of all elements at each step: both links are fully stressed, and half the step gives the same mass
"$MBGRAD" optimize flexible-arm-design --json 2>note | python3 -c '
import json, sys
r = json.load(sys.stdin)
h = [v["value"] for k, v in sorted(r["parameters"].items())]
print(r["converged"], r["feasible"], abs(r["objective"] - 1.31502) < 2e-5, h == sorted(h, reverse=True), abs(h[0] - 0.04729) < 2e-5, abs(h[5] - 0.02098) < 2e-5, h[9] == 0.005)'
cat note
