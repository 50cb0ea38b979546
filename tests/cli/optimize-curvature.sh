# second order at an optimum: theory 9, section 7, by re-optimizing; robust designs; standard errors by the Hessian
"$MBGRAD" optimize five-bar-design --formulation lie --step 0.01 --optimality 1e-9 --curvature --json --no-error-estimate >five.json
python3 -c '
import json
r = json.load(open("five.json"))
print(r["curvature"]["order"], *(f"{w*0.7268548028/9:.2f}" for w in r["curvature"]["eigenvalues"]))
shifts = {s["key"]: s["parameters"] for s in r["shifts"] if s["owner"] == "parameter"}
for key, a, b in (("k1", -1.95855597e-3, 0), ("m2", 0.148850254, -0.0433367852)):
    print(key, abs(shifts[key]["L01"] - a) < 1e-7, abs(shifts[key]["L02"] - b) < 1e-7)
print(len(r["shifts"]) > 20)'
"$MBGRAD" optimize quarter-car-design --curvature --no-error-estimate | sed -n '/^second order/,/^$/p'
cat >robust.json <<'JSON'
{ "mbgrad": 1,
  "parameters": { "k": { "value": 20, "min": 1, "max": 200, "deviation": 4 }, "c": { "value": 1, "min": 0.1, "max": 10, "deviation": 0.2 } },
  "bodies": { "b": { "motion": "planar-point", "mass": 1, "position": [1, 0, 0] } },
  "forces": { "s": { "type": "spring-damper", "between": ["ground", "b"], "along": "x", "stiffness": "k", "damping": "c" } },
  "signals": { "x": { "type": "position", "of": "b", "component": "x" }, "v": { "type": "velocity", "of": "b", "component": "x" } },
  "criteria": { "rest": { "integral": "x^2 + 0.01*v^2 + 0.0001*k" } },
  "run": { "end": 2, "step": 0.01 },
  "optimize": { "objective": "rest", "robust": 2 }
}
JSON
"$MBGRAD" optimize robust.json --json --no-error-estimate >robust.out
python3 - <<'PY'
import json, os, subprocess
r = json.load(open("robust.out"))
p = {k: v["value"] for k, v in r["parameters"].items()}
def objective(k, c):
    run = subprocess.run([os.environ["MBGRAD"], "gradient", "robust.json", "--set", f"k={k!r}", "--set", f"c={c!r}", "--json",
                          "--no-error-estimate"], capture_output=True, text=True, check=True)
    rest = json.loads(run.stdout)["criteria"]["rest"]
    return rest["value"] + 2 * ((4 * rest["gradient"]["k"])**2 + (0.2 * rest["gradient"]["c"])**2)**0.5
best = objective(p["k"], p["c"])
print(r["status"], abs(best - r["objective"]) < 1e-12)
print(p["c"] == 10, all(objective(p["k"]*a, p["c"]*b) > best for a, b in ((1.02, 1), (0.98, 1), (1, 0.98))))
PY
"$MBGRAD" optimize robust.json --optimizer newton
sed -i 's/, "deviation": [0-9.]*//g' robust.json
"$MBGRAD" optimize robust.json
"$MBGRAD" identify noisy-pendulum --hessian --json --no-error-estimate >fit.json
"$MBGRAD" identify noisy-pendulum --optimizer newton --json --no-error-estimate >newton.json
python3 -c '
import json
a, b = json.load(open("fit.json"))["parameters"], json.load(open("newton.json"))["parameters"]
print(all(0 < abs(p["hessian_error"]/p["standard_error"] - 1) < 0.02 for p in a.values()),
      all(abs(a[k]["value"] - b[k]["value"]) < 1e-6 for k in a), b["L"]["hessian_error"])'
