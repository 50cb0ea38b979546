# what has no effect is said, and has derivatives of exactly 0; long vectors are abbreviated
cat >model.json <<'END'
{
  "mbgrad": 1, "name": "pendulum",
  "parameters": { "l": 0.5, "nothing": 3, "k": {"value": [0,0,0,0,0,0,0,0,1,2,3,4,5,6,7,8,9,10,11,12], "unit": "N"} },
  "gravity": [0, -9.81, 0],
  "bodies": { "bob": { "motion": "planar-point", "mass": 1, "position": ["l", 0, 0] } },
  "joints": { "rod": { "type": "distance", "between": ["ground", "bob"], "length": "l" } },
  "signals": { "y": { "type": "position", "of": "bob", "component": "y" },
               "s": { "type": "expression", "value": "y*(k[0] + k[9]^2 + k[12]*k[19])" } },
  "criteria": { "height": { "terminal": "y" }, "sum": { "integral": "s" }, "time": { "terminal": "t" } },
  "run": { "end": 0.5, "step": 0.01 }
}
END
clean() { sed -E 's/[0-9.e-]+ s for/TIME for/g; s/[0-9.]+ MB/SIZE/'; }
"$MBGRAD" gradient model.json | clean
"$MBGRAD" gradient model.json --full | clean | wc -l
"$MBGRAD" gradient model.json --json 2>/dev/null | python3 -c '
import json, sys
c = json.load(sys.stdin)["criteria"]
print([c[k]["gradient"]["nothing"] for k in c], c["time"]["gradient"]["l"], len(c["sum"]["gradient"]["k"]))'
# neither criteria nor parameters
python3 - <<'END'
import json
model = json.load(open("model.json"))
bare = dict(model, criteria={}); json.dump(bare, open("bare.json", "w"))
fixed = dict(model, parameters={}, constants={"l": 0.5}, criteria={"height": {"terminal": "y"}})
del fixed["signals"]["s"]; json.dump(fixed, open("fixed.json", "w"))
END
for command in "gradient bare.json" "check bare.json --gradient" "compare bare.json" "gradient fixed.json" "compare fixed.json"; do
  "$MBGRAD" $command
  echo "$? $command"
done
"$MBGRAD" gradient fixed.json --all --top 2 | clean
