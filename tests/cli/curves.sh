# curves that are none, signals that have no meaning, followers that lift off
curve() {
  printf '%s\n' "$1"
  cat >model.json <<END
{"mbgrad": 1, "curves": {"c": $1},
 "bodies": {"p": {"motion": "planar-point", "mass": 1, "position": [1, 0.1, 0]}},
 "joints": {"slot": {"type": "point-on-curve", "between": ["ground", "p"], "curve": "c"}},
 "run": {"end": 0.1, "step": 0.01}}
END
  "$MBGRAD" check model.json 2>&1 | grep -E 'error|warning' | sed 's/^/  /'
}
curve '{"points": [[0, 0], [1, 0], [2, 1], [3, 1], [4, 0]]}'
curve '{"points": [[0, 0], [1, 0], [2, 1]], "degree": "cubic"}'
curve '{"points": [[0, 0], [1, 0], [2, 1, 0], [3, 1], [4, 0], [5, 0]]}'
curve '{"points": [[0, 0], [1, 0], [1, 0], [3, 1], [4, 0], [5, 0]]}'
curve '{"points": [[1, 0], [0, 1], [-1, 0], [-1, -1], [0, -1], [1, 0]], "closed": true}'
curve '{"points": [[0, 0], [1, 1], [2, 0], [1, -1], [0, 0.5], [-1, 1]]}'
curve '{"points": [[0, 0], [1, 0], [2, 0], [2, 0.001], [1, 0.001], [0, 0.001]]}'
curve '{"x": "cos(s)*(1 + cos(s))", "y": "sin(s)*(1 + cos(s))", "to": "2*pi", "closed": true}'
curve '{"x": "s", "y": "abs(s - 1)", "to": 2}'
curve '{"x": "s", "y": "tanh(1000*(s - 1))", "to": 2}'
curve '{"x": "cos(s)", "y": "sin(s)", "to": 6, "closed": true}'
curve '{"x": "cos(s)", "y": "sin(s) + 0.1*s*(2*pi - s)", "to": "2*pi", "closed": true}'
curve '{"x": "sin(s)", "y": "sin(2*s)", "to": "2*pi", "closed": true}'
curve '{"x": "1", "y": "2", "to": 1}'
curve '{"x": "s", "y": "s"}'

# a cam of 1500 rpm under a soft spring: the roller would fly
cat >cam.json <<'END'
{"mbgrad": 1, "parameters": {"e": 0.004, "k": 300}, "gravity": [0, -9.81, 0],
 "curves": {
   "cam": {"x": "(0.02 + e*cos(s))*cos(s)", "y": "(0.02 + e*cos(s))*sin(s)", "to": "2*pi", "closed": true},
   "wire": {"x": "cos(s)", "y": "sin(s)", "z": "0.1*s", "to": 12}
 },
 "bodies": {
   "shaft": {"motion": "planar", "mass": 1, "inertia": 0.001},
   "roller": {"motion": "planar-point", "mass": 0.2, "position": [0, 0.03, 0]},
   "bead": {"motion": "point", "mass": 1, "position": ["cos(5)", "sin(5)", 0.5]}
 },
 "markers": {"top": {"on": "ground", "at": [0, 0.1, 0]}},
 "joints": {
   "axle": {"type": "revolute", "between": ["ground", "shaft"], "at": [0, 0, 0]},
   "guide": {"type": "point-on-line", "between": ["ground", "roller"], "at": [0, 0, 0], "axis": [0, 1, 0]},
   "roll": {"type": "roller-on-curve", "between": ["shaft", "roller"], "curve": "cam", "radius": 0.006},
   "thread": {"type": "point-on-curve", "between": ["ground", "bead"], "curve": "wire"}
 },
 "drivers": {"engine": {"joint": "axle", "law": "-150*t"}},
 "forces": {"spring": {"type": "spring-damper", "between": ["top", "roller"], "stiffness": "k", "rest": 0.12}},
 "signals": {"press": {"type": "curve-contact", "joint": "roll", "quantity": "normal"}},
 "criteria": {"least": {"terminal": "press"}},
 "run": {"end": 0.045, "step": 0.0002}}
END
for formulation in lie ali3p dca qr; do
  "$MBGRAD" simulate cam.json --formulation $formulation 2>&1 | grep -E 'error|warning' | sed 's/by [0-9.]* N at t = [0-9.]*/by ... N at t = .../'
done
"$MBGRAD" simulate cam.json --set k=30000 2>&1 | grep -E 'error|warning'
# an event at lift-off: the normal force behind a short lag
sed 's|"criteria"|"states": {"load": {"rate": "(press - load)/1e-3", "initial": "steady"}},\
 "events": {"lift": {"guard": "load", "direction": "-", "end": true}}, "criteria"|; s|"terminal": "press"|"terminal": "1000*t"|' cam.json >lift.json
"$MBGRAD" simulate lift.json | grep -E 'least  '
for formulation in dca ali3p; do
  "$MBGRAD" check --gradient lift.json --formulation $formulation 2>lifted | grep -E 'proven' | sed -E 's/over [0-9.]+ decades/over n decades/'
  grep -vE 'would leave its curve|bodies were moved|steps are too long' lifted
done
sed 's|"guard": "load"|"guard": "press"|' lift.json >late.json
"$MBGRAD" simulate late.json

signal() {
  sed "s|\"press\": {.*|\"press\": $1},|; s|\"stiffness\": \"k\"|\"stiffness\": \"${2:-k}\"|" cam.json >wrong.json
  printf '%s\n' "$1"
  "$MBGRAD" check wrong.json 2>&1 | grep -E 'error' | sed 's/^/  /'
}
signal '{"type": "curve-contact", "joint": "axle", "quantity": "s"}'
signal '{"type": "curve-contact", "joint": "roll", "quantity": "z"}'
signal '{"type": "curve-contact", "joint": "roll", "quantity": "s", "on": "follower"}'
signal '{"type": "curve-contact", "joint": "thread", "quantity": "normal"}'
signal '{"type": "curve-contact", "joint": "roll"}'
signal '{"type": "curve-contact", "joint": "roll", "quantity": "length"}'
sed 's|"forces": {|"forces": {"slide": {"type": "force", "on": "roller", "force": [0, "place", 0]}, |; s|"signals": {|"signals": {"place": {"type": "curve-contact", "joint": "roll", "quantity": "arc"}, |' cam.json >law.json
"$MBGRAD" check law.json
# where the contact is, as the guard of an event
sed 's|"criteria": {.*|"events": {"nose": {"guard": "x - 0.005", "direction": "+", "end": true}}, "criteria": {"when": {"terminal": "1000*t"}},|; s|"signals": {|"signals": {"x": {"type": "curve-contact", "joint": "roll", "quantity": "x"}, |' cam.json >nose.json
"$MBGRAD" check --gradient nose.json --set k=30000 | grep -E 'proven'
