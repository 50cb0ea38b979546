# all methods in the form that programs read, against the published numbers
for method in auto direct adjoint continuous; do
  "$MBGRAD" gradient quarter-car --method $method --json >$method.json
done
"$MBGRAD" gradient quarter-car --method adjoint --json --memory 5000 --no-error-estimate >limited.json
"$MBGRAD" gradient quarter-car --method adjoint --json --no-error-estimate >adjoint-only.json
"$MBGRAD" gradient overhead-crane --json >vector.json
python3 - <<'END'
import json
reference = { # theory 4, section 12, R2: value and derivatives by p1 .. p4
    "psi0": [0.7576035293958, 3.3625424578e-05, 2.3326700225e-04, -7.8328610961e-03, -8.2115569550],
    "psiL": [17.1724202012, -1.9236020064e-04, 3.3416016445e-05, 1.1136991828e-01, -33.772703775],
    "F1": [4152.4702014994, 1.7057189934e-02, -1.8694273982e-02, 7.9990460854, -1322.9043604]}
def numbers(run, name):
    c = run["criteria"][name]
    return [c["value"]] + [c["gradient"][p] for p in ("p1", "p2", "p3", "p4")]
runs = {m: json.load(open(m + ".json")) for m in ("auto", "direct", "adjoint", "continuous", "limited")}
print(sorted(runs["auto"]), sorted(runs["auto"]["work"]))
print(runs["auto"]["model"], runs["auto"]["formulation"], [runs[m]["method"] for m in runs])
for name, wanted in reference.items():
    for method in "auto", "direct", "adjoint", "limited":
        for got, want in zip(numbers(runs[method], name), wanted):
            assert abs(got / want - 1) < 1e-8, (name, method, got, want) # digits of the reference
    for got, want in zip(numbers(runs["continuous"], name), wanted):
        assert abs(got / want - 1) < 0.3 # an approximation at this step
# less memory changes nothing but the work
print(runs["limited"]["criteria"] == json.load(open("adjoint-only.json"))["criteria"], runs["limited"]["work"]["recomputed_steps"] > 0,
      runs["limited"]["work"]["peak_bytes"] <= 5000)
vector = json.load(open("vector.json"))
print(len(vector["criteria"]["J"]["gradient"]["u_k"]), len(vector["parameters"]["u_k"]))
END
