# second derivatives in searches: fewer iterations, the same optimum; with constraints, and for controls
for o in lbfgs newton ipopt-exact; do "$MBGRAD" optimize five-bar-design --formulation lie --step 0.02 --optimizer $o --json >$o.json; done
for o in slsqp ipopt-exact; do "$MBGRAD" optimize quarter-car-design --optimizer $o --json >c-$o.json; done
for o in lbfgs newton; do "$MBGRAD" control overhead-crane --optimizer $o --json >u-$o.json; done
python3 -c '
import json
read = lambda name: json.load(open(name + ".json"))
a, b, c = read("lbfgs"), read("newton"), read("ipopt-exact")
for r in (b, c):
    print(r["optimizer"], r["status"], r["iterations"] <= a["iterations"], r["products"] > 0, r["objective"] < 1e-12,
          all(abs(r["parameters"][p]["value"] - x) < 1e-6 for p, x in (("L01", 2.43192357), ("L02", 1.84486889))))
a, b = read("c-slsqp"), read("c-ipopt-exact")
print(b["optimizer"], b["status"], b["feasible"], abs(b["objective"] - a["objective"]) < 1e-6)
a, b = read("u-lbfgs"), read("u-newton")
print("control", b["status"], 3 * b["iterations"] < a["iterations"], b["objective"] <= a["objective"])'
"$MBGRAD" optimize quarter-car-design --optimizer newton
"$MBGRAD" optimize five-bar-design --integrator bdf --formulation qr --optimizer newton >out; echo "status $?"
# a search goes on from its restart file
"$MBGRAD" optimize five-bar-design --formulation lie --step 0.02 --optimizer newton --restart r.txt --iterations 3 >out
"$MBGRAD" optimize five-bar-design --formulation lie --step 0.02 --optimizer newton --restart r.txt --resume --json >on.json
python3 -c '
import json
r, s = json.load(open("on.json")), json.load(open("newton.json"))
print(r["replayed"] > 3, r["objective"] == s["objective"], r["parameters"] == s["parameters"])'
