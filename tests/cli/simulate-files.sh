# the same numbers in CSV, HDF5 and JSON; a plot that is XML; the final state
"$MBGRAD" simulate quarter-car --quiet --out run.csv --plot run.svg --state state.json
"$MBGRAD" simulate quarter-car --quiet --out run.h5
"$MBGRAD" simulate quarter-car --json >run.json
h5dump -a /model -a /formulation -a /partial run.h5 | grep '(0)'
h5dump -a /parameters/p1 run.h5 | grep '(0)'
h5dump -n run.h5 | grep dataset
h5dump -y -w 0 -m %.15g -d /signals/F -o F.txt run.h5 >/dev/null
h5dump -y -w 0 -m %.15g -d /time -o t.txt run.h5 >/dev/null
python3 - <<'END'
import csv, json, xml.etree.ElementTree as ET

rows = list(csv.reader(open("run.csv")))
run = json.load(open("run.json"))
print(rows[0], len(rows))
columns = {name: [float(r[i]) for r in rows[1:]] for i, name in enumerate(rows[0])}
def same(a, b):
    return len(a) == len(b) and all(abs(x - y) <= 1e-14 * max(1, abs(y)) for x, y in zip(a, b))
print(same(columns["t"], run["time"]), all(same(columns[k], v) for k, v in run["signals"].items()))
def dumped(name):
    return [float(x) for x in open(name).read().replace(",", " ").split()]
print(same(dumped("F.txt"), columns["F"]), same(dumped("t.txt"), columns["t"]))
print(sorted(run), run["partial"], run["parameters"], sorted(run["work"]))
# reference: theory 4, section 12, R2, to the digits that are given
assert abs(run["criteria"]["psi0"] / 0.7576035293958 - 1) < 1e-8
state = json.load(open("state.json"))
bodies = state["bodies"]
print(sorted(state), abs(state["time"] - 1) < 1e-12, sorted(bodies), {len(b["frame"]) for b in bodies.values()}, {len(b["twist"]) for b in bodies.values()})
svg = ET.parse("run.svg").getroot()
print(svg.tag, len([e for e in svg.iter() if e.get("class") == "l"]))
END
