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
model '{"guard": "z - 0.5", "direction": "-", "end": true}' >model.json
"$MBGRAD" gradient model.json --method continuous 2>&1 | sed 's/^/  /'
"$MBGRAD" gradient model.json --formulation qr --method continuous 2>&1 | sed 's/^/  /'
"$MBGRAD" gradient model.json --formulation qr --integrator bdf 2>&1 | sed 's/^/  /'
"$MBGRAD" gradient model.json --hessian 2>&1 | grep error | sed 's/^/  /'
true
