# what optimize refuses, what it steps back from, and what it says
run() { echo "+ optimize $*" >&2; "$MBGRAD" optimize "$@" >out; echo "status $?"; }
model() { # objective, section, more
  cat >model.json <<JSON
{ "mbgrad": 1,
  "parameters": { "k": { "value": ${K:-20}, "min": ${LOW:-1}, "max": 100 }, "c": { "value": 1, "min": 0.1, "max": 10 } },
  "bodies": { "b": { "motion": "planar-point", "mass": 1, "position": [1, 0, 0] } },
  "forces": { "s": { "type": "spring-damper", "between": ["ground", "b"], "along": "x", "stiffness": "${STIFF:-k}", "damping": "c" } },
  "signals": { "x": { "type": "position", "of": "b", "component": "x" }, "v": { "type": "velocity", "of": "b", "component": "x" } },
  "criteria": { "rest": { "integral": "${REST:-x^2}" }, "speed": { "path": "v", "min": ${VMIN:--3} }, "end": { "terminal": "x" } $MORE },
  "run": { "end": 1, "step": 0.01 }
  $OPTIMIZE
}
JSON
}
OPTIMIZE= ; model; run model.json
OPTIMIZE=', "optimize": { "objective": "rst" }'; model; run model.json
OPTIMIZE=', "optimize": { "objective": "rest + enf" }'; model; run model.json
OPTIMIZE=', "optimize": { "objective": "speed" }'; model; run model.json
OPTIMIZE=', "optimize": { "objective": "rest", "constraints": { "end": {} } }'; model; run model.json
OPTIMIZE=', "optimize": { "objective": "rest", "constraints": { "end": { "min": 1, "max": 0 }, "sped": { "max": 1 } } }'; model; run model.json
OPTIMIZE=', "optimize": { "objective": "rest", "constraints": { "end": { "min": 1, "equal": 0, "aggregate": 3 }, "speed": { "scale": 0, "max": 1 } } }'; model; run model.json
OPTIMIZE=', "optimize": { "objective": "rest", "constraints": { "speed": { "equal": 1 }, "v": { "mean": { "kk": 1 }, "max": 1 } } }'; model; run model.json
OPTIMIZE=', "optimize": { "objective": "rest", "runs": { "a": 1 }, "filter": { "k": 0 }, "parameters": [], "optimizer": "simplex", "combine": "least" }'; model; run model.json
OPTIMIZE=', "optimize": { "objective": "rest", "filter": { "k": 0.5 } }'; model; run model.json
OPTIMIZE=', "optimize": { "objective": "rest", "parameters": ["k"], "filter": { "c": 2 } }'; model; run model.json
OPTIMIZE=', "optimize": { "objective": "rest", "constraints": { "end": { "equal": 0 } } }'; model
run model.json --optimizer mma
run model.json --optimizer conlin
run model.json --optimizer lbfgs
run model.json --optimizer ipopt-gn
run model.json --optimizer simplex
run model.json --starts 0
run model.json --optimality -1
# bounds that contradict each other, a start outside of them
LOW=200; model; run model.json; LOW=
OPTIMIZE=', "optimize": { "objective": "rest" }'; model; run model.json --set k=500
# an objective that is no number at the start, and one that is none on the way: it steps back
OPTIMIZE=', "optimize": { "objective": "log(end - 5)" }'; model; run model.json
OPTIMIZE=', "optimize": { "objective": "end + 0.002*k + 0.01*c - log(60 - k)/10" }'; K=55; model; run model.json; sed -n '3p' out; K=
# a simulation that fails at the start, and on the way
STIFF='k + log(50 - k)'; OPTIMIZE=', "optimize": { "objective": "rest - k/100" }'; K=60; model; run model.json; K=20
model
for name in lbfgs nlopt-lbfgs newton slsqp mma conlin ipopt ipopt-exact; do
  "$MBGRAD" optimize model.json --optimizer $name --iterations 60 --json >out 2>/dev/null; python3 -c '
import json
r = json.load(open("out"))
print(r["optimizer"], r["feasible"], "stepped back:", r["failures"] > 0, "k at its wall:", 49 < r["parameters"]["k"]["value"] < 50)'
done
STIFF= ; K=
# an infeasible start is no obstacle; limits that nothing fulfils are said
OPTIMIZE=', "optimize": { "objective": "c", "constraints": { "speed": { "min": -1.5 } } }'; model; run model.json; sed -n '3p' out
OPTIMIZE=', "optimize": { "objective": "c", "constraints": { "end": { "max": -5 } } }'; model; run model.json; sed -n '3p' out
