# --set outside the bounds of a parameter warns in every command that takes it
cat >model.json <<'END'
{ "mbgrad": 1,
  "parameters": { "k": { "value": 20, "min": 1, "max": 100 }, "m": { "value": 1, "min": 0.1 }, "c": { "value": [1, 1], "max": 2 } },
  "controls": { "u": { "times": [0, 1], "values": [0, 0] } },
  "bodies": { "b": { "motion": "planar-point", "mass": "m", "position": [1, 0, 0] } },
  "forces": { "s": { "type": "spring-damper", "between": ["ground", "b"], "along": "x", "stiffness": "k", "damping": "c[0]" },
              "t": { "type": "spring-damper", "between": ["ground", "b"], "along": "y", "stiffness": "c[1] + 1" },
              "u": { "type": "force", "on": "b", "force": ["u", 0, 0] } },
  "signals": { "x": { "type": "position", "of": "b", "component": "x" } },
  "criteria": { "rest": { "integral": "x^2" }, "fit": { "least_squares": "x", "data": { "time": [0, 0.1], "value": [1, 0.9] } } },
  "initial": { "start": "exact" },
  "optimize": { "objective": "rest", "parameters": ["k"] }, "identify": { "parameters": ["k"] }, "control": { "objective": "rest" },
  "run": { "end": 0.1, "step": 0.01 } }
END
for command in check simulate gradient "check --gradient" compare modes "optimize --iterations 1" "identify --iterations 1" \
  "control --iterations 1" "sweep --vary k=1:2:2"; do
  set -- $command
  echo "+ $*"
  name=$1; shift
  "$MBGRAD" $name model.json "$@" --set m=0.05 --set c=3 2>&1 >/dev/null </dev/null | grep bounds
done
"$MBGRAD" gradient model.json --set k=100 --set c=2 >/dev/null && echo inside
