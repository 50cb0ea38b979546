# events that are not defined, in the file and in the run
model() {
  echo '{ "mbgrad": 1, "parameters": {"e": 0.5}, "gravity": [0, 0, -9.81], "modes": {"on": 0},'
  echo '  "bodies": { "ball": {"motion": "point", "mass": 1, "position": [0, 0, 1]} },'
  echo '  "signals": { "z": {"type": "position", "of": "ball", "component": 3}, "acc": {"type": "acceleration", "of": "ball", "component": 3},'
  echo '    "v": {"type": "velocity", "of": "ball", "component": 3} },'
  echo '  "events": { "floor": '"$1"' }, "criteria": { "last": '"${2:-{\"terminal\": \"z\"\}}"' }, "run": {"end": 2, "step": 0.01} }'
}
try() {
  model "$2" "${3:-}" >model.json
  printf '%s\n' "$2"
  "$MBGRAD" "$1" model.json 2>&1 | grep -E 'error|warning' | sed 's/^/  /'
}
try simulate '{"guard": "z"}'
try simulate '{"guard": "z", "direction": "up"}'
try simulate '{"guard": "acc", "direction": "-"}'
try simulate '{"direction": "-"}'
try simulate '{"guard": "z", "at": 1}'
try simulate '{"guard": "z", "impact": {}}'
try simulate '{"guard": "z", "impact": {"restitution": 1.2}}'
try simulate '{"guard": "v", "impact": {"restitution": "e"}}'
try simulate '{"guard": "z", "impact": {"restitution": "e", "friction": 0.3}}'
try simulate '{"guard": "z", "direction": "-", "armed": "z > 0"}'
try simulate '{"guard": "z", "direction": "-", "set": {"off": 1}}'
try simulate '{"guard": "z", "direction": "-", "set": {"on": 0.5}}'
try simulate '{"guard": "z - 2", "impact": {"restitution": "e"}}'
try simulate '{"guard": "1/(z - 1)", "direction": "-"}'
try simulate '{"guard": "z", "impact": {"restitution": "e"}}'
try simulate '{"guard": "z", "impact": {"restitution": 0}}'
try simulate '{"guard": "z + 50", "direction": "-"}' '{"terminal": "z", "at": "floor"}'
try simulate '{"at": 0.5}' '{"terminal": "z", "firing": 2}'
try simulate '{"at": 0.5}' '{"terminal": "z", "at": "roof"}'
# at 0 at the start: an error unless its rate opens it
try simulate '{"guard": "z - 1", "direction": "-"}'
try simulate '{"guard": "z - 1", "direction": "+"}'
try simulate '{"guard": "sqrt(z - 0.999)", "direction": "-"}'
# guards that jump, and conditions that are no numbers
try simulate '{"guard": "z > 0.5", "direction": "-"}'
try simulate '{"guard": "sign(z - 0.5)*(1 + z)", "direction": "-"}'
try simulate '{"guard": "if(t < 0.305, z + 1, -1)", "direction": "-"}'
try simulate '{"guard": "z", "direction": "-", "armed": "1/on > 0"}'
try simulate '{"guard": "z", "direction": "-", "armed": "sqrt(on - 1) > 0"}'
# numbers of an impact that a run changes
for e in -0.1 1.5; do
  model '{"guard": "z", "impact": {"restitution": "e"}}' | sed 's/"end": 2/"end": 0.8/' >model.json
  "$MBGRAD" simulate model.json --set e=$e 2>&1 | grep -E 'error|warning' | sed 's/^/  /'
done
# times that are not in the run
for at in 0 -1; do
  model '{"at": '$at', "set": {"on": 1}}' >model.json
  "$MBGRAD" gradient model.json --no-error-estimate 2>&1 | grep 'event'
done
# impacts that accumulate, under error control
for formulation in lie dca qr; do
  model '{"guard": "z", "impact": {"restitution": "e"}}' >model.json
  "$MBGRAD" simulate model.json --formulation $formulation --tolerance 1e-6 2>&1 | grep error | sed -E 's/ \(it fires.*//; s/^/  /'
done
# two balls land at one time: the run goes on, there is no gradient
cat >two.json <<'END'
{ "mbgrad": 1, "parameters": {"h": 1}, "gravity": [0, 0, -9.81],
  "bodies": { "a": {"motion": "point", "mass": 1, "position": [0, 0, "h"]}, "b": {"motion": "point", "mass": 2, "position": [1, 0, "h"]} },
  "signals": { "za": {"type": "position", "of": "a", "component": 3}, "zb": {"type": "position", "of": "b", "component": 3} },
  "events": { "left": {"guard": "za", "impact": {"restitution": 0.5}}, "right": {"guard": "zb", "impact": {"restitution": 0.5}} },
  "criteria": { "last": {"terminal": "za + zb"} }, "run": {"end": 0.6, "step": 0.01} }
END
"$MBGRAD" simulate two.json | grep -A2 'event '
"$MBGRAD" gradient two.json 2>&1 | grep error | sed 's/^/  /'
# an impact on a rod that a driver moves: no impulse changes its gap
cat >locked.json <<'END'
{ "mbgrad": 1, "parameters": {"e": 0.5, "x": 0.1},
  "bodies": { "rod": {"motion": "planar", "mass": 1, "inertia": 0.1, "position": [0.5, 0, 0]} },
  "joints": { "left": {"type": "revolute", "between": ["ground", "rod"], "at": [0, 0, 0]} },
  "drivers": { "turn": {"joint": "left", "law": "-t"} },
  "signals": { "y": {"type": "position", "of": "rod", "component": 2} },
  "events": { "floor": {"guard": "y + x", "impact": {"restitution": "e"}} },
  "criteria": { "last": {"terminal": "y"} }, "run": {"end": 0.6, "step": 0.01} }
END
"$MBGRAD" simulate locked.json 2>&1 | grep error | sed 's/^/  /'
# ... on the rod of a slider-crank that a driver moves: rounding leaves some mobility
cat >driven.json <<'END'
{ "mbgrad": 1, "parameters": {"e": 0.5},
  "bodies": { "crank": {"motion": "planar", "mass": 1.3, "inertia": 0.11, "position": [0.13, 0.21, 0], "rotate": [["z", 1.02]]},
    "rod": {"motion": "planar", "mass": 0.7, "inertia": 0.07, "position": [0.6, 0.2, 0], "rotate": [["z", -0.4]]},
    "slide": {"motion": "planar", "mass": 0.9, "inertia": 0.05, "position": [1.0, 0, 0]} },
  "markers": { "c0": {"on": "crank", "at": [-0.25, 0, 0]}, "c1": {"on": "crank", "at": [0.25, 0, 0]},
    "r0": {"on": "rod", "at": [-0.5, 0, 0]}, "r1": {"on": "rod", "at": [0.5, 0, 0]}, "mid": {"on": "rod", "at": [0.1, 0.07, 0]} },
  "joints": { "a": {"type": "revolute", "between": ["ground", "c0"]}, "b": {"type": "revolute", "between": ["c1", "r0"]},
    "c": {"type": "revolute", "between": ["r1", "slide"]}, "rail": {"type": "prismatic", "between": ["ground", "slide"], "at": [1, 0, 0], "axis": [1, 0, 0]} },
  "drivers": { "turn": {"joint": "a", "law": "1.02 - 3*t"} },
  "signals": { "y": {"type": "position", "of": "mid", "component": 2} },
  "events": { "floor": {"guard": "y - 0.1", "impact": {"restitution": "e"}} },
  "criteria": { "last": {"terminal": "y"} }, "run": {"end": 0.6, "step": 0.01} }
END
for formulation in lie dae ali3p dca qr; do
  "$MBGRAD" simulate driven.json --formulation $formulation --step 0.01 2>&1 | grep error | sed 's/^/  /'
done
# the same faults in the other formulations: a gap that is held, a guard that is no number on the way, at 0 at the start
for formulation in dae ali3p dca qr; do
  echo "$formulation"
  "$MBGRAD" simulate locked.json --formulation $formulation --step 0.01 2>&1 | grep error | sed -E 's/t = [0-9.]+/t = .../; s/^/  /'
  for guard in 'sqrt(z - 0.999)' 'z - 1' 'z > 0.5'; do
    model '{"guard": "'"$guard"'", "direction": "-"}' >model.json
    "$MBGRAD" simulate model.json --formulation $formulation --step 0.01 2>&1 | grep error | sed -E 's/t = [0-9.]+/t = .../; s/^/  /'
  done
done
model '{"guard": "z - 0.5", "direction": "-", "end": true}' >model.json
"$MBGRAD" gradient model.json --method continuous 2>&1 | sed 's/^/  /'
"$MBGRAD" gradient model.json --formulation qr --method continuous 2>&1 | sed 's/^/  /'
"$MBGRAD" gradient model.json --formulation qr --integrator bdf 2>&1 | sed 's/^/  /'
"$MBGRAD" gradient model.json --hessian 2>&1 | grep error | sed 's/^/  /'
true

echo "# events and modes of a part"
cat >part.json <<'END'
{
  "mbgrad": 1,
  "modes": { "late": 0 },
  "bodies": { "b": { "motion": "point", "mass": 1 } },
  "signals": { "x": { "type": "position", "of": "b", "component": "x" } },
  "events": { "e": { "at": 0.5, "set": { "late": 1 } } }
}
END
cat >whole.json <<'END'
{ "mbgrad": 1, "parts": { "P": { "use": "part.json" } }, "criteria": { "c": { "terminal": "P.x" } }, "run": { "end": 1, "step": 0.1 } }
END
"$MBGRAD" gradient whole.json --no-error-estimate 2>&1 | grep 'left out'
