# formulations and methods side by side; without times
"$MBGRAD" compare torsional-pendulum --step 0.02 --plot compare.svg | sed -E 's/ +[0-9.e-]+ s +[0-9.e-]+ s +[0-9.]+ MB$/ TIMES/; s/simulation.*/TIMES/' | sed -E '/ by l$/,/half step/ s/([0-9]\.[0-9]{4})[0-9]*/\1/g'
python3 -c 'import xml.etree.ElementTree as ET; print(len([e for e in ET.parse("compare.svg").getroot().iter() if e.tag.endswith("circle")]))'
"$MBGRAD" compare quarter-car --json >run.json
python3 - <<'END'
import json
run = json.load(open("run.json"))
print(sorted(run), [(w["formulation"], w["method"], w["steps"]) for w in run["ways"]], run["reference"]["steps"])
print(sorted(run["reference"]))
for w in run["ways"]:
    assert 0 < w["gradient_difference"] < 0.1 and 0 < w["value_difference"] < 0.02, w["method"]
END
