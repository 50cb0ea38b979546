# a run in two parts ends where the whole one does, up to the order of the method; a restart of the other model is explained
"$MBGRAD" simulate rssr --end 0.2 --step 1e-4 --state half.json --quiet
"$MBGRAD" simulate rssr --end 0.4 --step 1e-4 --restart half.json --state end.json --quiet
"$MBGRAD" simulate rssr --end 0.4 --step 1e-4 --state whole.json --quiet
/usr/bin/python3 - <<'PY'
import json
a, b, half = (json.load(open(f)) for f in ("end.json", "whole.json", "half.json"))
worst = max(abs(x - y) for n in a["bodies"] for k in ("frame", "twist")
            for x, y in zip(a["bodies"][n][k], b["bodies"][n][k]))
print("time", half["time"], a["time"], b["time"], "turns", a["turns"] == b["turns"], "agree", worst < 1e-4)
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
