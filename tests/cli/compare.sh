# formulations and methods side by side; without times, and without what later versions add; not under sanitizers
rows() { tr -s ' ' | grep -E 'psi|all|method|(lie|dae|qr) (direct|adjoint|continuous) |reference|independent'; }
"$MBGRAD" compare torsional-pendulum --step 0.02 --plot compare.svg >out
rows <out | sed -E 's/ [0-9.]+e-1[0-9] [0-9.]+e-1[0-9] / TINY TINY /; s/ [0-9.e-]+ s [0-9.e-]+ s [0-9.]+ MB$/ TIMES/; s/([0-9]\.[0-9]{4})[0-9]*/\1/g'
python3 -c 'import xml.etree.ElementTree as ET; print(len([e for e in ET.parse("compare.svg").getroot().iter() if e.tag.endswith("circle") or e.get("class") == "m"]) >= 12)'
# under error control the reference has a tighter tolerance
"$MBGRAD" compare driven-flap --end 0.5 | tr -s ' ' | grep -E '^ (qr|reference)|^ Reference|tolerance' |
  sed -E 's/ [0-9.e-]+ s [0-9.e-]+ s [0-9.]+ MB$/ TIMES/; s/ [0-9.]+e-1[0-9] [0-9.]+e-1[0-9] [0-9]+/ TINY TINY STEPS/'
"$MBGRAD" compare quarter-car --json >run.json
python3 - <<'END'
import json
run = json.load(open("run.json"))
print(sorted(run), run["reference"]["steps"], sorted(run["reference"]))
for w in run["ways"]:
    if w["formulation"] == "qr":
        print("qr", w["method"])
    if w["formulation"] in ("lie", "dae") and w["method"] in ("direct", "adjoint", "continuous"):
        print(w["formulation"], w["method"], w["steps"])
        assert 0 < w["gradient_difference"] < 0.1 and 0 < w["value_difference"] < 0.02, w["method"]
END
