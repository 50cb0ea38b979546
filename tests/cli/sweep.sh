# a grid: every point is what `gradient` gives there; --jobs changes nothing
"$MBGRAD" sweep five-bar --vary L01=2:2.5:3 --vary k1=80,120 --end 0.5 >grid.csv
"$MBGRAD" sweep five-bar --vary L01=2:2.5:3 --vary k1=80,120 --end 0.5 --jobs 3 --out again.csv
cmp grid.csv again.csv && head -n 1 grid.csv && grep -c ok grid.csv
"$MBGRAD" gradient five-bar --set L01=2.25 --set k1=120 --end 0.5 --json >one.json
python3 - <<'PY'
import csv, json
row = [r for r in csv.DictReader(open("grid.csv")) if r["L01"] == "2.25" and r["k1"] == "120"][0]
psi = json.load(open("one.json"))["criteria"]["psi"]
print("as gradient gives:", float(row["psi"]) == psi["value"], float(row["dpsi/dL01"]) == psi["gradient"]["L01"], float(row["dpsi/dk1"]) == psi["gradient"]["k1"])
PY
# random points within bounds or ranges; the same for the same seed
"$MBGRAD" sweep quarter-car-design --random 5 --vary k --vary c=1000:2000 --end 0.2 --no-gradient --criteria comfort,travel >a.csv
"$MBGRAD" sweep quarter-car-design --random 5 --vary k --vary c=1000:2000 --end 0.2 --no-gradient --criteria comfort,travel --jobs 2 >b.csv
"$MBGRAD" sweep quarter-car-design --random 5 --seed 2 --vary k --vary c=1000:2000 --end 0.2 --no-gradient --criteria comfort,travel >c.csv
cmp a.csv b.csv && head -n 1 a.csv
cmp -s a.csv c.csv || echo "another seed, other points"
python3 - <<'PY'
import csv
rows = list(csv.DictReader(open("a.csv")))
print(len(rows), all(10000 <= float(r["k"]) <= 100000 and 1000 <= float(r["c"]) <= 2000 for r in rows))
PY
# points that cannot be simulated are rows without values
cat >model.json <<'JSON'
{ "mbgrad": 1, "parameters": { "k": 1, "x": { "value": [1, 2] } },
  "bodies": { "b": { "motion": "planar-point", "mass": 1, "position": [1, 0, 0] } },
  "forces": { "s": { "type": "spring-damper", "between": ["ground", "b"], "along": "x", "stiffness": "log(k) + x[1]" } },
  "signals": { "y": { "type": "position", "of": "b", "component": "x" } },
  "criteria": { "end": { "terminal": "y" } }, "run": { "end": 1, "step": 0.5 } }
JSON
"$MBGRAD" sweep model.json --vary k=-1:1:3 --vary 'x[1]=1' | cut -c1-12,30-31 | cut -d. -f1
"$MBGRAD" sweep model.json --vary k=-1,0 --no-gradient
echo "status $?"
