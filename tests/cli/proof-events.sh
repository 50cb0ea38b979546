# the proof across events: how far the sequence of events holds, and which event changes it
# the Taylor test moves the first parameter up, the second one down, and so on
model() { # parameters
  cat >wall.json <<JSON
{
  "mbgrad": 1,
  "parameters": {$1},
  "modes": {"push": 0},
  "bodies": {"b": {"motion": "point", "mass": 1, "position": ["a", 0, 0]}},
  "joints": {"rail": {"type": "point-on-line", "between": ["ground", "b"], "at": [0, 0, 0], "axis": [1, 0, 0]}},
  "signals": {"x": {"type": "position", "of": "b", "component": "x"}},
  "forces": {"f": {"type": "force", "on": "b", "force": ["-k*x + push", 0, 0]}},
  "events": {
    "hit": {"guard": "x - wall", "impact": {"restitution": "e"}},
    "switch": {"at": "late", "set": {"push": 1}}
  },
  "criteria": {"x_end": {"terminal": "x"}},
  "run": {"end": 0.7, "step": 0.005}
}
JSON
  "$MBGRAD" check wall.json --gradient >out 2>err
  status=$?
  sed -n 3,6p out | tr -s ' \n' ' ' | sed 's/: slope.*//'
  echo
  sed -n '/^events/,/^$/p' out
  echo "exit status $status"
}
model '"k": 40, "a": 0.5, "e": 0.6, "wall": -0.2, "late": 0.6021'
echo "the amplitude shrinks: the event vanishes"
model '"k": 40, "a": 0.5, "e": 0.6, "wall": -0.4995, "late": 0.6021'
echo "two events change places"
model '"a": 0.5, "k": 40, "e": 0.6, "wall": -0.2, "late": 0.31341'
echo "an event at the end of the run, which moves beyond it: gone however little the parameters change"
model '"late": 0.7, "k": 40, "a": 0.5, "e": 0.6, "wall": -0.2'
echo "the wall comes nearer: a new event"
model '"k": 40, "wall": -0.505, "a": 0.5, "e": 0.6, "late": 0.6021'
"$MBGRAD" check wall.json --gradient --json 2>/dev/null | grep -o '"sequence_[a-z]*": [^,]\{1,7\}'
true
