# constraints on rates: freedoms of positions and of rates, redundant wheels, and what refuses them
curves=$SRC/tests/reference/curves
for model in sleigh wheel ball drive; do
  "$MBGRAD" check "$curves/$model.json" | grep -E 'degrees of freedom|pinned'
done
"$MBGRAD" check "$curves/drive.json" --json | python3 -c '
import json, sys
c = json.load(sys.stdin)
rates = [name for name in c["redundant"] if name.endswith("across")]
print(c["degrees_of_freedom"], c["position_freedoms"], c["rank"], len(c["redundant"]), len(rates))'
cat >flat.json <<'END'
{"mbgrad": 1, "bodies": {"w": {"mass": 1, "inertia": [1, 1, 1], "position": [0, 0, 0.1]}},
 "joints": {"roll": {"type": "rolling-wheel", "between": ["ground", "w"], "radius": 0.1}}, "run": {"end": 0.1, "step": 0.01}}
END
"$MBGRAD" check flat.json
# a ball in a bowl that is too narrow, a profile that is not smooth
cat >tight.json <<'END'
{"mbgrad": 1, "bodies": {"b": {"mass": 1, "inertia": [1, 1, 1], "position": [0, 0, 0.5]}},
 "joints": {"roll": {"type": "rolling-ball", "between": ["ground", "b"], "radius": 0.5, "profile": "5*(x^2 + y^2)"}},
 "run": {"end": 0.1, "step": 0.01}}
END
"$MBGRAD" check tight.json
sed 's/5\*(x^2 + y^2)/0.1*sin(z)/' tight.json >height.json
"$MBGRAD" check height.json
# rows that contradict each other, and a wheel out of balance that would take off
cat >two.json <<'END'
{"mbgrad": 1, "bodies": {"w": {"mass": 1, "inertia": [1, 1, 2], "position": [0, 0, 0.5], "rotate": [["x", "90 deg"]]}},
 "joints": {
   "roll": {"type": "rolling-wheel", "between": ["ground", "w"], "radius": 0.5},
   "again": {"type": "rolling-wheel", "between": ["ground", "w"], "radius": 0.4}
 },
 "run": {"end": 0.1, "step": 0.01}}
END
"$MBGRAD" check two.json
sed 's/0.4}/0.5}/' two.json >same.json
"$MBGRAD" check same.json | grep -A 1 constraints
cat >driven.json <<'END'
{"mbgrad": 1, "bodies": {"w": {"mass": 1, "inertia": [1, 1, 2], "position": [0, 0, 0.5], "rotate": [["x", "90 deg"]]}},
 "joints": {
   "roll": {"type": "rolling-wheel", "between": ["ground", "w"], "radius": 0.5},
   "hub": {"type": "revolute", "between": ["ground", "w"], "at": [0, 0, 0.5], "axis": [0, 1, 0]}
 },
 "drivers": {"turn": {"joint": "hub", "law": "3*t"}}, "run": {"end": 0.1, "step": 0.01}}
END
"$MBGRAD" check driven.json
cat >hop.json <<'END'
{"mbgrad": 1, "gravity": [0, 0, -9.81],
 "bodies": {"w": {"mass": 1, "inertia": [0.01, 0.01, 0.02], "com": [0.1, 0, 0], "position": [0, 0, 0.2],
                  "rotate": [["x", "90 deg"]], "velocity": [-6, 0, 0], "angular_velocity": [0, -30, 0]}},
 "joints": {"roll": {"type": "rolling-wheel", "between": ["ground", "w"], "radius": 0.2}},
 "signals": {"load": {"type": "reaction", "joint": "roll", "component": "fz", "in": "world"}},
 "run": {"end": 0.1, "step": 0.001}}
END
for formulation in lie ali3p; do
  "$MBGRAD" simulate hop.json --formulation $formulation >/dev/null
done
sed 's/"pin"/"start": "equilibrium", "pin"/' "$curves/wheel.json" >still.json
"$MBGRAD" check still.json
"$MBGRAD" modes "$curves/wheel.json"
"$MBGRAD" linearize "$curves/wheel.json"
# motions that are not steady, wheels that are not round; and the modes of one that is
"$MBGRAD" modes "$curves/wheel.json" --at steady
disc=$SRC/tests/reference/rolling/disc.json
sed 's/\["A", "A", "C"\]/["A", 0.031, "C"]/' "$disc" >oval.json
"$MBGRAD" modes oval.json --at steady
sed 's/\[0.1405, 0.1405, "IFyy"\]/[0.1405, 0.15, "IFyy"]/' "$SRC/gallery/whipple-bicycle/model.json" >egg.json
"$MBGRAD" linearize egg.json --at steady
"$MBGRAD" modes "$disc" --at steady --undamped
"$MBGRAD" modes "$disc" --at steady
"$MBGRAD" linearize "$disc" --at start --json | python3 -c '
import json, sys
s = json.load(sys.stdin)
print(s["degrees_of_freedom"], s["position_freedoms"], len(s["states"]))'
for key in '"iteration": "augmented"' '"projection": "tangent"'; do
  sed "s/\"run\": {\"formulation\": \"lie\"/\"run\": {\"formulation\": \"ali3p\", $key/" "$disc" >option.json
  "$MBGRAD" simulate option.json
done
"$MBGRAD" gradient "$curves/wheel.json" --method continuous
