# discrete linear models along a run: tables, files, what is refused
"$MBGRAD" linearize overhead-crane --transition 1.5 --outputs x_t
echo "== JSON"
"$MBGRAD" linearize five-bar --transition 0.1 --end 0.35 --inputs k1 --outputs x2 --json >run.json
python3 - <<'END'
import json
d = json.load(open("run.json"))
print(sorted(d), d["formulation"], d["start"], d["interval"], [s["name"] for s in d["states"]])
for s in d["samples"]:
    print(sorted(s), round(s["time"], 12), len(s["x"]))
END
echo "== CSV"
"$MBGRAD" linearize overhead-crane --transition 1 --outputs x_t --out - | sed -n "1,4p; 22,26p" | awk -F, "NR > 1 {\$8 = sprintf(\"%.6g\", \$8)} 1"
echo "== Matrix Market"
"$MBGRAD" linearize overhead-crane --transition 1 --outputs x_t --out crane.mtx >table
ls crane-*
awk "NR > 2 {\$1 = sprintf(\"%.6g\", \$1)} 1" crane-B-2.mtx
echo "== refused"
try() { "$MBGRAD" linearize overhead-crane "$@"; echo "status $?"; }
try --transition now
try --transition -1
try --transition 9
try --transition 1 --at start
try --transition 1 --by L
try --transition 0.01 --step 0.005
