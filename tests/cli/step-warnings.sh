# steps and models that cannot be right are named; the same models with proper steps say nothing
run() {
  echo "$*"
  "$MBGRAD" "$@" 2>&1 >/dev/null | sed "s|$SRC/||"
}

echo "--- a pendulum of 2 s: 0.1 s and 1 s are warned of, 5 s is refused"
for formulation in lie dae ali3p dca; do
  for step in 0.001 0.1 1 5; do
    run gradient simple-pendulum --end 2 --formulation $formulation --step $step
  done
done
run gradient simple-pendulum --end 2 --formulation qr --step 5
echo "the steps of a run need not be a whole number"
run simulate simple-pendulum --end 2 --formulation lie --step 0.0003

echo "--- intervals"
cat >spring.json <<'JSON'
{
  "mbgrad": 1,
  "parameters": { "k": 400, "c": 0.5, "z0": 0.1 },
  "bodies": { "mass": { "mass": 1, "inertia": [1, 1, 1], "position": [0, 0, 0] } },
  "joints": { "rail": { "type": "prismatic", "between": ["ground", "mass"], "axis": [1, 0, 0], "at": [0, 0, 0] } },
  "forces": { "spring": { "type": "spring-damper", "joint": "rail", "coordinate": "slide", "stiffness": "k", "damping": "c", "rest": 0 } },
  "signals": { "x": { "type": "position", "of": "mass", "component": "x" } },
  "initial": { "pin": { "out": { "joint": "rail", "coordinate": "slide", "value": "z0", "rate": 0 } } },
  "criteria": { "end": { "terminal": "x" }, "points": { "path": "x", "every": 4 } },
  "run": { "end": 2, "step": 0.001 }
}
JSON
run simulate spring.json --interval 3
sed -i 's/, "points": { "path": "x", "every": 4 }//' spring.json

echo "--- periods at the start"
for formulation in lie dae ali3p; do
  run simulate spring.json --formulation $formulation --step 0.01
  run simulate spring.json --formulation $formulation --step 0.04
  run simulate spring.json --formulation $formulation --step 0.5
done
run simulate spring.json --formulation dca --step 0.1
run simulate spring.json --formulation dca --step 0.2
echo "a stiff bushing that nothing excites"
cat >bushing.json <<'JSON'
{
  "mbgrad": 1,
  "parameters": { "k": 1e9 },
  "gravity": [0, 0, -9.81],
  "bodies": {
    "arm": { "mass": 2, "com": [0.5, 0, 0], "inertia": [0.1, 0.1, 0.1] },
    "tool": { "mass": 1, "inertia": [0.01, 0.01, 0.01], "position": [1, 0, 0] }
  },
  "joints": { "hinge": { "type": "revolute", "between": ["ground", "arm"], "axis": [0, 1, 0], "at": [0, 0, 0] } },
  "forces": { "mount": { "type": "bushing", "between": ["arm", "tool"], "at": [1, 0, 0], "stiffness": ["k", "k", "k", "k", "k", "k"] } },
  "signals": { "z": { "type": "position", "of": "tool", "component": "z" } },
  "criteria": { "end": { "terminal": "z" } },
  "run": { "end": 1, "step": 0.002 }
}
JSON
run simulate bushing.json

echo "--- bodies that turn"
cat >rotor.json <<'JSON'
{
  "mbgrad": 1,
  "parameters": { "e": 0, "W": 200 },
  "bodies": { "wheel": { "mass": 1, "com": ["e", 0, 0], "inertia": [0.05, 0.05, 0.1], "angular_velocity": [0, 0, "W"] } },
  "joints": { "axle": { "type": "revolute", "between": ["ground", "wheel"], "axis": [0, 0, 1], "at": [0, 0, 0] } },
  "signals": { "w": { "type": "rate", "joint": "axle", "coordinate": "angle" }, "rim": { "type": "position", "of": "wheel", "component": "x" } },
  "criteria": { "end": { "terminal": "w" } },
  "run": { "end": 1, "step": 0.01 }
}
JSON
echo "a round wheel may"
run simulate rotor.json
echo "a wheel out of balance may not"
for formulation in lie dae ali3p dca; do
  run simulate rotor.json --formulation $formulation --set e=0.1 --set W=150 --step 0.01
done
run simulate rotor.json --set e=0.1 --set W=150 --step 0.001
sed 's/"signals"/"markers": { "rim": { "on": "wheel", "at": [0.1, 0, 0] } }, "forces": { "rod": { "type": "spring-damper", "between": ["ground", "rim"], "stiffness": 1 } }, &/' rotor.json >rod.json
echo "nor one with a spring at its rim"
run simulate rod.json

echo "--- energy"
sed 's/"c": 0.5/"c": 0/' spring.json >kept.json
run simulate kept.json --step 0.002
run simulate kept.json --step 0.03
run simulate kept.json --formulation qr --tolerance 1e-1 --end 20
run simulate spring.json --formulation dca --step 0.13
echo "pieces of an integral that are divided are passed twice: the energy falls all the same"
sed 's/{ "terminal": "x" }/{ "integral": "x^2*exp(-((t - 0.5)\/0.02)^2)" }/' spring.json >window.json
for formulation in qr dca; do
  run simulate window.json --formulation $formulation --tolerance 1e-8 --set c=8
done

echo "--- contacts"
cat >stop.json <<'JSON'
{
  "mbgrad": 1,
  "parameters": { "c": 200 },
  "gravity": [-9.81, 0, 0],
  "bodies": { "ball": { "mass": 1, "inertia": [1, 1, 1], "position": [0, 0, 0] } },
  "joints": { "rail": { "type": "prismatic", "between": ["ground", "ball"], "axis": [1, 0, 0], "at": [0, 0, 0] } },
  "forces": { "floor": { "type": "stop", "joint": "rail", "coordinate": "slide", "lower": 0, "stiffness": 1e5, "width": 0.01, "damping": "c" } },
  "signals": { "x": { "type": "position", "of": "ball", "component": "x" } },
  "initial": { "pin": { "high": { "joint": "rail", "coordinate": "slide", "value": 0.2, "rate": 0 } } },
  "criteria": { "end": { "terminal": "x" } },
  "run": { "end": 0.5, "step": 1e-4 }
}
JSON
run simulate stop.json
run simulate stop.json --set c=20
run simulate vehicle --end 0.6
run simulate vehicle --end 0.3

echo "--- smooth maxima"
sed 's|"criteria": {|& "peak": { "smooth_maximum": "x", "sharpness": 3 },|' kept.json >peak.json
run simulate peak.json
sed -i 's/"sharpness": 3 /"sharpness": 2000 /' peak.json
run simulate peak.json

echo "--- once, not at every evaluation; after a restart the rest may be shorter than a step"
sed 's|"k": 400|"k": { "value": 400, "min": 100, "max": 900 }|; s|"run"|"optimize": { "parameters": ["k"], "objective": "end" }, &|; s/"step": 0.001/"step": 0.04/' kept.json >search.json
"$MBGRAD" optimize search.json 2>&1 >/dev/null | sort | uniq -c | sed 's/^ *//'
run sweep spring.json --vary k=1,100,400 --vary c=0,1 --step 0.04
"$MBGRAD" simulate spring.json --end 1.96 --step 0.01 --state state.json >/dev/null
run simulate spring.json --restart state.json --step 0.1

echo "--- explicit steps that explode"
run gradient "$SRC/tests/reference/special/big-step.json"
"$MBGRAD" gradient "$SRC/tests/reference/special/big-step.json" >/dev/null 2>&1 || echo "exit $?"
