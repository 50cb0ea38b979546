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
# modes and impulses are part of a state: a pendulum at a stop that changes its spring, beyond the guard of an event
# that lies behind it; and the linear model after it
cat >stop.json <<'END'
{"mbgrad": 1, "parameters": {"k": 50, "k2": 80, "e": 0.6}, "gravity": [0, 0, -9.81], "modes": {"hits": 0},
 "bodies": {"b": {"mass": 1, "inertia": [0.1, 0.1, 0.1], "com": [0.5, 0, 0]}},
 "joints": {"j": {"type": "revolute", "between": ["ground", "b"], "at": [0, 0, 0], "axis": [0, 1, 0]}},
 "signals": {"q": {"type": "coordinate", "joint": "j"}, "P": {"type": "impulse", "event": "stop"}},
 "forces": {"s": {"type": "expression", "joint": "j", "force": "if(hits == 0, -0.1*k*q, -0.1*k2*q) - 0.05*P"}},
 "events": {"stop": {"impact": {"signal": "0.4 - q", "restitution": "e"}, "set": {"hits": 1}},
            "down": {"guard": "q - 0.1", "direction": "+"}, "again": {"at": 0.9, "set": {"hits": 2}}},
 "criteria": {"angle": {"terminal": "q"}, "work": {"integral": "q^2 + P"}}, "run": {"end": 1, "step": 0.001}}
END
for formulation in lie dae qr ali3p dca; do
  options="--formulation $formulation --step 1e-3 --quiet"
  "$MBGRAD" simulate stop.json $options --end 0.7 --state half.json
  "$MBGRAD" simulate stop.json $options --restart half.json --state end.json
  "$MBGRAD" simulate stop.json $options --state whole.json
  python3 compare.py 1e-11 stop $formulation
  python3 - <<'END'
import json
half, end, whole = (json.load(open(f"{f}.json")) for f in ("half", "end", "whole"))
print(half["modes"], end["modes"], f'{half["impulses"]["stop"]:.2f}', end["modes"] == whole["modes"],
      abs(end["impulses"]["stop"] - whole["impulses"]["stop"]) < 1e-11)
END
  for method in direct adjoint; do
    "$MBGRAD" gradient stop.json ${options% --quiet} --restart half.json --no-error-estimate --method $method --json \
      >$method.json 2>/dev/null
  done
  python3 - <<'END'
import json
a, b = (json.load(open(f"{f}.json"))["criteria"] for f in ("direct", "adjoint"))
print("direct and adjoint agree", max(abs(a[c]["gradient"][p] / b[c]["gradient"][p] - 1)
                                      for c in a for p in ("k2", "e")) < 1e-9)
END
done
python3 - <<'END'
import json
half = json.load(open("half.json"))
for name, modes in ("float", {"hits": 0.5}), ("other", {"miss": 1}), ("without", None):
    json.dump({**half, "modes": modes} if modes else {k: v for k, v in half.items() if k != "modes"},
              open(f"{name}.json", "w"))
END
for f in float other without; do # numbers before the place differ in length
  "$MBGRAD" simulate stop.json --restart $f.json 2>&1 | sed 's/json:1:[0-9]*:/json:1:N:/'
  echo "${PIPESTATUS[0]}"
done
# a linear model about a time takes the modes there: 1/J times (k, k2)/10 and the weight
for at in 0.1 0.7; do
  "$MBGRAD" linearize stop.json --at $at --json | python3 -c '
import json, sys
from math import cos, sin
d = json.load(sys.stdin)
print(round(d["A"][1][0] * 0.35 + 0.5 * 9.81 * sin(d["states"][0]["value"]), 9))'
done
