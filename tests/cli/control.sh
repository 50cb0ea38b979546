# the crane follows its path; every file is written and can be used again
"$MBGRAD" control overhead-crane --samples 61 --effort 1e-8 --gradient-tolerance 1e-5 --control u.csv --out motion.csv \
  --plot crane.svg --tracking x_l:path --restart crane.restart >report
# iteration counts may differ by a few where rounding does
sed -E 's/[0-9]+ iterations in/N iterations in/; s/[0-9]+ evaluations/N evaluations/; s/[0-9.]+e-[0-9]+/X/g; s/-?[0-9]+\.[0-9]+/Y/g; s/ +/ /g' report
head -n 1 u.csv motion.csv
grep -c . u.csv
grep -o '<title>[^<]*' crane.svg | head -n 1
python3 - "$SRC" <<'END'
import json, sys
model = json.load(open(sys.argv[1] + "/gallery/overhead-crane/model.json"))
model["controls"]["u"] = {"file": "u.csv", "times": "t", "values": "u", "interpolation": "cubic"}
del model["parameters"]["u_k"], model["control"]
json.dump(model, open("replay.json", "w"))
END
"$MBGRAD" simulate replay.json --json | python3 -c '
import json, sys
print("replayed within 2 mm:", json.load(sys.stdin)["criteria"]["rms"] < 2e-3)'
"$MBGRAD" control overhead-crane --samples 61 --effort 1e-8 --gradient-tolerance 1e-5 --restart crane.restart --resume --json \
  --write found.json >again
python3 -c '
import json
r = json.load(open("again"))
print(sorted(r), r["status"], r["stages"], len(r["controls"]["u"]["values"]), r["objective"] <= r["objective_start"])'
"$MBGRAD" simulate found.json --json 2>err | python3 -c '
import json, sys
print("found within 2 mm:", json.load(sys.stdin)["criteria"]["rms"] < 2e-3)'
# two controls with times of their own, each in a file
"$MBGRAD" control arm-tracking --iterations 3 --quiet --control c.csv --signals x,y --out motion.h5
echo "status $?"
ls c*.csv motion.h5
python3 - "$SRC" <<'END'
import json, sys
model = json.load(open(sys.argv[1] + "/gallery/arm-tracking/model.json"))
del model["control"]["controls"]["torque2"]["samples"]
json.dump(model, open("arm.json", "w"))
END
"$MBGRAD" control arm.json --iterations 2 --stages 1 --quiet --control own.csv
ls own*
