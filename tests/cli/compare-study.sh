# the study of the paper of qr; figures with their bounds, no times; not under sanitizers
"$MBGRAD" compare torsional-pendulum --study --end 0.5 --tolerance 1e-7 --output tables --plot both.svg >out
grep -E '^[a-z]|^  (gradient by|perturbation|time of|Exact)' out | sed -E 's/ +/ /g'
ls tables
python3 - <<'END'
import csv, xml.etree.ElementTree as ET
for path in ("both.svg", "tables/study.svg"):
    print(path, len([e for e in ET.parse(path).getroot().iter() if e.tag.endswith("circle")]))
print([r["method"] for r in csv.DictReader(open("tables/methods.csv")) if r["method"] != "ali3p"])
print(len(list(csv.DictReader(open("tables/perturbations.csv")))))
END
"$MBGRAD" compare torsional-pendulum --study --end 1 --json >pendulum.json
"$MBGRAD" compare driven-flap --study --end 0.05 --tolerance 1e-9 --json >flap.json
python3 - <<'END'
import json
# paper: 4.2e-10 by the adjoint, 4.4e-9 with differences, 2 orders worse by finite differences
p = json.load(open("pendulum.json"))
print(sorted(p), p["exact"])
e = {m["method"]: m["relative_error"] for m in p["methods"]}
assert e["products"] < 4.2e-10 and e["factors"] < 4.2e-10 and e["minimal"] < 8.1e-10, e
assert 10 * e["products"] < e["differences"] < 1e-5, e
assert 100 * e["products"] < e["finite_differences"] < 1e-4, e
assert p["jacobian_factors"] < 1e-12
j = [x["jacobian"] for x in p["perturbations"]]
best = p["perturbations"][j.index(min(j))]["perturbation"]
# forward differences: first order down to the root of rounding, then rounding
assert 1e-9 <= best <= 1e-7 and all(8 < j[i] / j[i + 1] < 12 for i in range(3)), j
g = [x["relative_error"] for x in p["perturbations"]]
assert min(g) == e["finite_differences"] and g[-1] > min(g)
assert all(s > 0 for t in p["seconds"].values() for s in t.values())
# rheonomic and redundant rows, 9 parameters, integrals: no closed form
f = json.load(open("flap.json"))
e = {m["method"]: m["relative_error"] for m in f["methods"]}
print(f["exact"], sorted(e))
assert e["products"] < 1e-7 and e["factors"] < 1e-7 and e["differences"] < 1e-3, e
assert f["jacobian_factors"] < 1e-9, f["jacobian_factors"]
END
# the inertia of modal bodies depends on their coordinates: its derivative belongs to the Jacobian by factors
"$MBGRAD" compare two-arm --study --end 0.02 --tolerance 1e-6 --json >arms.json
python3 -c 'import json; f = json.load(open("arms.json")); print(all(f[k] < 1e-9 for k in ("jacobian_factors", "jacobian_algorithm")))'
# the paper's data (its Fig. 3 has the least error at 1e-7), and why differences cannot do better: their truncation error
# 4.2 eps at l = 5 is ten times that at l = 0.5, and rounding takes over at the root of rounding times l
"$MBGRAD" compare "$SRC/bench/study/pendulum.json" --study --json >paper.json
"$MBGRAD" compare "$SRC/bench/study/pendulum.json" --study --adjoint-tolerance 1e-8 --json >apart.json
"$MBGRAD" compare torsional-pendulum --study --json >short.json
python3 - <<'END'
import json
p, q, a = (json.load(open(f)) for f in ("paper.json", "short.json", "apart.json"))
e = {m["method"]: m["relative_error"] for m in p["methods"]}
assert e["products"] < 1e-9 and abs(e["algorithm"] - e["factors"]) < 1e-11 and p["jacobian_algorithm"] < 1e-12, e
assert 1e-7 < e["differences"] < 1e-6 and e["central"] < 0.1 * e["differences"], e
loose = {m["method"]: m for m in a["methods"]}
assert loose["products"]["relative_error"] > 10 * e["products"]
assert loose["products"]["evaluations"] < p["methods"][0]["evaluations"]
by = lambda s, key: {round(x["perturbation"], 12): x[key] for x in s["perturbations"]}
j, g, h = by(p, "jacobian"), by(p, "adjoint"), by(q, "adjoint")
assert min(j, key=j.get) == 1e-7, j
assert all(3.9 < g[x] / x < 4.5 and 39 < h[x] / x < 45 for x in (1e-3, 1e-4, 1e-5, 1e-6)), (g, h)
assert min(g.values()) > 1e-8
print(sorted(loose))
END
"$MBGRAD" compare torsional-pendulum --adjoint-tolerance 1e-9
"$MBGRAD" compare torsional-pendulum --output tables
"$MBGRAD" compare torsional-pendulum --study --end 0.1 --tolerance 1e-6 --output none/at/all >out
