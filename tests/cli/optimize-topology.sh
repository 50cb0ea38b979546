# the flexible slider crank on a coarser mesh: volume kept, best objective never rises and settles, a picture of the design
elements=${MBG_TEST_LONG:+60}
python3 - "$SRC" "${elements:-8}" <<'PY'
import json, sys
n = int(sys.argv[2])
text = open(sys.argv[1] + "/gallery/slider-crank-topology/model.json").read()
model = json.loads(text.replace("crank.1000", "crank.%d" % n).replace("rod.1000", "rod.%d" % n))
for name in ("xc", "xr"):
    model["parameters"][name]["count"] = n
    model["optimize"]["filter"][name] = 2
for name in ("crank", "rod"):
    model["beams"][name]["elements"] = n
json.dump(model, open("coarse.json", "w"))
PY
"$MBGRAD" optimize coarse.json --optimizer mma --output plots --json >coarse.result 2>coarse.messages
echo "status $?"
grep -o "criterion .* swings to and fro" coarse.messages
python3 - <<'PY'
import json, re
r = json.load(open("coarse.result"))
best = [h["best"] for h in r["history"]]
volume = r["constraints"][0]
print(r["status"], r["feasible"], "volume kept:", volume["value"] <= 0.5 * (1 + 1e-6), "and used:", volume["active"] == 1)
print("best never rises:", all(a >= b for a, b in zip(best, best[1:])), "- settled to 1e-4:", best[-11] - best[-1] <= 1e-4 * best[-1])
print("less than a fifth of the energy:", r["objective"] < 0.2 * r["objective_start"], "- by the adjoint alone:", r["direct"] == 0)
n = sum(name.startswith("xc[") for name in r["parameters"])
value = [[r["parameters"]["%s[%d]" % (v, i)]["value"] for i in range(n)] for v in ("xc", "xr")]
# a crank is bent most at its bearing, a rod by its inertia in the middle
print("crank thick at the bearing:", value[0][0] > 0.9 and value[0][0] > value[0][-1], "- rod in the middle:",
      value[1][n // 2] > value[1][0] and value[1][n // 2] > value[1][-1])
picture = open("plots/design.svg").read()
outlines = re.findall('d="(.*?)"', picture)
print("beams in the picture:", len(outlines), "- every element:", all(len(re.findall("[ML]", o)) == 2 * n for o in outlines))
PY
