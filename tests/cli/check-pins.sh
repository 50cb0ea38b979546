# pins that contradict each other
"$MBGRAD" new five-bar >/dev/null
python3 - <<'END'
import json
model = json.load(open("five-bar/model.json"))
model["initial"]["pin"]["2"] = {"joint": "2", "coordinate": "angle", "value": 0.5}
json.dump(model, open("five-bar/model.json", "w"))
END
"$MBGRAD" check five-bar 2>err
status=$?
sed "s/(residual.*/.../" err >&2
exit $status
