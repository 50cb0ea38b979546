# the same numbers with any number of jobs: load cases in threads, starts in processes; not under sanitizers
python3 - "$SRC" <<'PY'
import json, sys
model = json.load(open(sys.argv[1] + "/gallery/quarter-car-design/model.json"))
model["constants"]["z"] = 0.03
tyre = model["forces"]["tyre"]
tyre["force"] = tyre["force"].replace("0.03*", "z*")
model["runs"] = {"bump": {}, "hole": {"set": {"z": -0.02}, "end": 0.6}, "ramp": {"set": {"z": 0.01}, "step": 0.004}}
model["optimize"]["runs"] = {"bump": 1, "hole": 2}
json.dump(model, open("sum.json", "w"))
model["optimize"]["combine"] = "worst"
del model["optimize"]["runs"]
json.dump(model, open("worst.json", "w"))
PY
for model in sum worst; do
  for jobs in 1 2 3; do
    "$MBGRAD" optimize $model.json --jobs $jobs --json >"$model$jobs.json" || echo "status $?"
  done
done
for jobs in 1 2; do
  "$MBGRAD" optimize spring-balanced-arm --starts 3 --jobs $jobs --json >"starts$jobs.json" || echo "status $?"
done
# the record of each start is kept when it is asked for
"$MBGRAD" optimize spring-balanced-arm --starts 3 --jobs 2 --restart r --quiet && ls r.*
"$MBGRAD" optimize spring-balanced-arm --starts 3 --jobs 2 --restart r --resume --json >starts3.json || echo "status $?"
python3 - <<'PY'
import json
def read(name):
    result = json.load(open(name + ".json"))
    for key in ("seconds", "replayed", "rows", "direct", "adjoint"):
        result.pop(key)
    return result
for name in ("sum", "worst", "starts"):
    first = read(name + "1")
    print(name, first["status"], len(first["cases"]), "cases; the same:", *(read(name + str(k)) == first for k in (2, 3)))
starts = read("starts1")
print(starts["start"], [s["status"] for s in starts["starts"]], min(s["objective"] for s in starts["starts"]) == starts["objective"])
PY
