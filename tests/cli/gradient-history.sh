# derivatives of signals over time: the last row is the gradient of a terminal criterion
"$MBGRAD" gradient quarter-car --history F.csv --signals F,length --json >run.json
"$MBGRAD" gradient quarter-car --history all.csv >/dev/null
python3 - <<'END'
import csv, json
rows = list(csv.reader(open("F.csv")))
print(rows[0], len(rows))
last = dict(zip(rows[0], map(float, rows[-1])))
c = json.load(open("run.json"))["criteria"]["F1"]
assert abs(last["F"] / c["value"] - 1) < 1e-13
for p, g in c["gradient"].items():
    assert abs(last["F:" + p] / g - 1) < 1e-12, p # rounding to 15 digits and of the sums
print(list(csv.reader(open("all.csv")))[0])
END
"$MBGRAD" gradient quarter-car --history nowhere/F.csv
"$MBGRAD" gradient quarter-car --history F.csv --signals G
