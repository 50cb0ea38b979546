# second derivatives: the largest ones, all of them, along a direction
"$MBGRAD" gradient five-bar --step 0.01 --hessian --top 5 --no-error-estimate | sed -n '/second/,/halves/p' | sed 's/by [0-9.e-]*$/by .../'
echo "== JSON: symmetric, and the reference numbers"
"$MBGRAD" gradient five-bar --formulation lie --step 0.01 --hessian --json --no-error-estimate >all.json
"$MBGRAD" gradient five-bar --formulation lie --step 0.01 --hessian --along k1=1 --json --no-error-estimate >along.json
python3 - <<'END'
import json
d = json.load(open("all.json"))["criteria"]["psi"]
a = json.load(open("along.json"))["criteria"]["psi"]
H = d["hessian"]
print(all(H[i][j] == H[j][i] for i in range(8) for j in range(8)), d["asymmetry"] < 1e-12)
print(f"{H[0][0]:.10f} {H[0][1]:.10f}")
print(max(abs(x - y) for x, y in zip(a["hessian_product"].values(), H[2])) < 1e-12, a["along"]["k1"])
END
echo "== a direction"
"$MBGRAD" gradient five-bar --step 0.01 --hessian --along k1=1 --along m2=0.5 --no-error-estimate | sed -n '/second/,/m4/p'
echo "== errors" >&2
"$MBGRAD" gradient five-bar --along k1=1
"$MBGRAD" gradient five-bar --hessian --along k9=1
"$MBGRAD" gradient simple-pendulum --hessian --integrator bdf --no-error-estimate
"$MBGRAD" gradient quarter-car --hessian --criteria F_path --no-error-estimate >table
grep -c second table
"$MBGRAD" simulate five-bar --end 0.1 --state half.json --quiet
"$MBGRAD" gradient five-bar --restart half.json --end 0.2 --hessian --no-error-estimate
echo "== a law with a kink in the motion: a warning, and 0.0699 where the motion has 0.1316 (theory 9, section 8)" >&2
cat >kink.json <<'END'
{ "mbgrad": 1, "parameters": { "k1": 4, "k2": 9 }, "bodies": { "b": { "mass": 1, "inertia": [1, 1, 1] } },
  "joints": { "j": { "type": "prismatic", "between": ["ground", "b"], "at": [0, 0, 0], "axis": [1, 0, 0] } },
  "forces": { "s": { "type": "expression", "joint": "j", "force": "-if(x > 0, k1, k2)*x" } },
  "initial": { "pin": { "v": { "joint": "j", "value": 0, "rate": 1 } } },
  "signals": { "x": { "type": "coordinate", "joint": "j" } }, "criteria": { "end": { "terminal": "x" } },
  "run": { "formulation": "dca", "end": 2, "step": 0.001 } }
END
"$MBGRAD" gradient kink.json --hessian --no-error-estimate | grep 'k1 *k1'
echo "== kinks in time and in parameters do no harm" >&2
sed 's/if(x > 0, k1, k2)/if(t > 1, k1, max(k1, k2))/' kink.json >time.json
"$MBGRAD" gradient time.json --hessian --no-error-estimate >table; grep -c second table
