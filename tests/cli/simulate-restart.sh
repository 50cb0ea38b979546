# a run in two parts ends where the whole one does, up to rounding, in every formulation; with other parameters, another
# formulation or a file of the first version up to the order of the method; a restart of the other model is explained
"$MBGRAD" simulate rssr --end 0.2 --step 1e-4 --state half.json --quiet
"$MBGRAD" simulate rssr --end 0.4 --step 1e-4 --restart half.json --state end.json --quiet
"$MBGRAD" simulate rssr --end 0.4 --step 1e-4 --state whole.json --quiet
/usr/bin/python3 - <<'PY'
import json
a, b, half = (json.load(open(f)) for f in ("end.json", "whole.json", "half.json"))
worst = max(abs(x - y) for n in a["bodies"] for k in ("frame", "twist")
            for x, y in zip(a["bodies"][n][k], b["bodies"][n][k]))
print("time", half["time"], a["time"], b["time"], "turns", a["turns"] == b["turns"], "agree", worst < 1e-9)
half["bodies"]["coupler"]["frame"][9] += 0.1
json.dump(half, open("torn.json", "w"))
del half["bodies"]["coupler"]
json.dump(half, open("less.json", "w"))
PY
for f in torn less none; do
  "$MBGRAD" simulate rssr --end 0.4 --step 1e-4 --restart $f.json
  echo "$?"
done
"$MBGRAD" simulate rssr --end 0.1 --restart half.json
echo "$?"
# every formulation; 1e-9: rounding, which loops amplify
cat >compare.py <<'END'
import json, sys
a, b = (json.load(open(f)) for f in ("end.json", "whole.json"))
worst = max(abs(x - y) for n in a["bodies"] for k in ("frame", "twist")
            for x, y in zip(a["bodies"][n][k], b["bodies"][n][k]))
print(*sys.argv[2:], "agree", worst < float(sys.argv[1]))
END
for model in five-bar quarter-car heavy-top; do
  for formulation in lie dae qr ali3p dca; do
    options="--formulation $formulation --step 1e-3 --quiet"
    "$MBGRAD" simulate $model $options --end 0.2 --state half.json
    "$MBGRAD" simulate $model $options --end 0.4 --restart half.json --state end.json
    "$MBGRAD" simulate $model $options --end 0.4 --state whole.json
    python3 compare.py 1e-9 $model $formulation
  done
done
# the accelerations of another formulation or of other parameters are not taken: as without any
options="--end 0.4 --step 1e-3 --quiet --set p1=20000"
"$MBGRAD" simulate quarter-car --end 0.2 --step 1e-3 --state half.json --quiet
python3 - <<'END'
import json
half = json.load(open("half.json"))
del half["stepper"]
json.dump(half, open("bare.json", "w"))
del half["version"]
json.dump(half, open("first.json", "w"))
half["version"], half["stepper"] = 2, {"problem": "lie", "numbers": [0, "a"]}
json.dump(half, open("bad.json", "w"))
END
"$MBGRAD" simulate quarter-car $options --restart half.json --state end.json
"$MBGRAD" simulate quarter-car $options --restart bare.json --state whole.json
python3 compare.py 1e-14 other parameters
"$MBGRAD" simulate quarter-car $options --restart first.json --state end.json
python3 compare.py 1e-14 first version
"$MBGRAD" simulate quarter-car $options --restart bad.json 2>err
echo "$? $(sed 's/1:[0-9]*/1:N/' err)"
