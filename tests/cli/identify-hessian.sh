# Data that no parameter fits, x = p t and y = p^2 t against 0.3 t and -t: with S = sum t^2, J'J = S (1 + 4 p^2) and
# H = J'J + 2 S (p^2 + 1), in closed form. Standard errors by both, a warning; a saddle has none.
cat >misfit.json <<'JSON'
{ "mbgrad": 1, "name": "misfit",
  "parameters": { "p": { "value": 0.2, "min": -5, "max": 5 } },
  "bodies": { "b": { "motion": "planar-point", "mass": 1, "velocity": ["p", "p^2", 0] } },
  "signals": { "x": { "type": "position", "of": "b", "component": "x" }, "y": { "type": "position", "of": "b", "component": "y" } },
  "criteria": { "fit_x": { "least_squares": "x", "data": "misfit.csv", "column": "x" },
                "fit_y": { "least_squares": "y", "data": "misfit.csv", "column": "y" } },
  "run": { "end": 1, "step": 0.1 } }
JSON
data() { awk -v a="$1" -v b="$2" 'BEGIN { print "time,x,y"; for (k = 0; k <= 10; k++) print k/10 "," a*k/10 "," b*k/10 }' >misfit.csv; }
data 0.3 -1
"$MBGRAD" identify misfit.json --hessian --json >fit.json
"$MBGRAD" identify misfit.json --optimizer newton --json >newton.json 2>/dev/null
python3 -c '
import json
a, b = (json.load(open(f))["parameters"]["p"] for f in ("fit.json", "newton.json"))
p = a["value"]
J, H = 1 + 4*p*p, 1 + 4*p*p + 2*(p*p + 1)
print(abs(3*p + 2*p**3 - 0.3) < 1e-6, abs(a["value"] - b["value"]) < 1e-6, abs(a["hessian_error"]/a["standard_error"] - (J/H)**0.5) < 1e-6)'
echo "== a saddle" >&2
data 0 1
sed -i 's/"value": 0.2/"value": 0/' misfit.json
"$MBGRAD" identify misfit.json --hessian --json >fit.json
python3 -c '
import json
p = json.load(open("fit.json"))["parameters"]["p"]
print(p["value"], p["standard_error"] > 0, p.get("hessian_error"))'
