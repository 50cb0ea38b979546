# proof of second derivatives: slope 3, differences of gradients, symmetry
"$MBGRAD" check five-bar --gradient --hessian --no-error-estimate --step 0.02 | grep -c 'second derivatives proven exact'
"$MBGRAD" check quarter-car --gradient --hessian --criteria psi0,psiL,F1,F_path --step 0.01 --no-error-estimate --json >proof.json
python3 - <<'END'
import json
proof = json.load(open("proof.json"))["hessian"]
print(sorted(proof))
for name, c in proof.items():
    assert c["proven"] and c["asymmetry"] < 1e-12, name
    assert 2.95 <= c["slope"] <= 3.05 and c["decades"] >= 2, (name, c["slope"], c["decades"])
    assert 1.95 <= c["difference_slope"] <= 2.05 and c["difference_decades"] >= 2 and c["best_difference"] < 1e-7, name
    assert len(c["points"]) == 19 and c["points"][0]["eps"] == 0.1
END
echo "== errors" >&2
"$MBGRAD" check five-bar --hessian
"$MBGRAD" check simple-pendulum --gradient --hessian --integrator bdf --no-error-estimate >out; echo "status $?"
