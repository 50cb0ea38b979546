# proof for programs: the check with one more member
"$MBGRAD" check quarter-car --json >plain.json
"$MBGRAD" check quarter-car --gradient --json >proof.json 2>/dev/null
"$MBGRAD" check torsional-pendulum --gradient --json --step 0.02 >other.json 2>/dev/null
python3 - <<'END'
import json
plain, proof, other = (json.load(open(n + ".json")) for n in ("plain", "proof", "other"))
g = proof.pop("gradient")
print(proof == plain, sorted(g), g["proven"])
for p in g, other["gradient"]:
    assert 1.95 <= p["taylor_slope"] <= 2.05 and p["taylor_decades"] >= 2.99 and 0 <= p["direct_vs_adjoint"] < 1e-10
assert 0 < other["gradient"]["other_formulation"] < 0.2 # two presets: steps of 0.02 differ by their error
for name, c in g["criteria"].items():
    assert c["proven"] and len(c["taylor"]) == 25 and c["finite_difference"] < 1e-6, name
print(sorted(c))
print({n: c["steps_small"] for n, c in g["criteria"].items()}, sorted(c["error"]), sorted(g["error"]))
END
