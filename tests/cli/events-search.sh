# searches across events: the sequence of events is reported, and a search that ends with another one begins anew there
numbers() { sed -E 's/([0-9]+\.[0-9]{5})[0-9]*/\1/g'; }

# a ball thrown at a goal: bounces vanish on the way to the optimum
cat >throw.json <<'END'
{ "mbgrad": 1, "parameters": { "v": {"value": 1, "min": 0.5, "max": 3.5}, "e": {"value": 0.8, "min": 0.5, "max": 0.9} },
  "gravity": [0, 0, -9.81],
  "bodies": { "ball": {"motion": "point", "mass": 1, "position": [0, 0, 1], "velocity": ["v", 0, 0]} },
  "signals": { "x": {"type": "position", "of": "ball", "component": "x"}, "z": {"type": "position", "of": "ball", "component": "z"} },
  "events": { "floor": {"guard": "z", "impact": {"restitution": "e"}}, "goal": {"guard": "x - 2", "direction": "+", "end": true} },
  "criteria": { "miss": {"terminal": "(z - 0.5)^2 + 0.01*t"} },
  "optimize": { "objective": "miss" }, "run": {"end": 5, "step": 0.01} }
END
for optimizer in slsqp ipopt; do
  echo "optimize, $optimizer"
  "$MBGRAD" optimize throw.json --optimizer $optimizer 2>&1 | grep -E '^note|: the conditions|^  [ve] ' | numbers
done

# heights of a ball that bounces with e = 0.82 from 1.1 m, three times; the start more often
cat >heights.json <<'END'
{ "mbgrad": 1, "parameters": { "e": {"value": 0.6, "min": 0.2, "max": 0.95}, "h0": {"value": 1.4, "min": 0.5, "max": 2} },
  "gravity": [0, 0, -9.81], "bodies": { "ball": {"motion": "point", "mass": 1, "position": [0, 0, "h0"]} },
  "signals": { "z": {"type": "position", "of": "ball", "component": "z"} },
  "events": { "floor": {"guard": "z", "impact": {"restitution": "e"}} },
  "criteria": { "fit": {"least_squares": "z", "data": {"time": [TIMES],
    "value": [HEIGHTS]}} },
  "run": {"formulation": "dca", "end": 1.95, "relative_tolerance": 1e-9} }
END
heights=$(awk 'BEGIN {
  g = 9.81; e = 0.82; h = 1.1
  for (k = 1; k <= 19; k++) {
    t = 0.1*k; v = sqrt(2*g*h); t0 = v/g
    if (t < t0) { z = h - g*t*t/2 }
    else { for (v *= e; t >= t0 + 2*v/g; v *= e) { t0 += 2*v/g } s = t - t0; z = v*s - g*s*s/2 }
    printf "%s%.15f", (k > 1 ? ", " : ""), z
  }
}')
sed -i "s/HEIGHTS/$heights/; s/TIMES/$(seq -s, 0.1 0.1 1.9)/" heights.json
for optimizer in lm lbfgs; do
  echo "identify, $optimizer"
  "$MBGRAD" identify heights.json --optimizer $optimizer 2>&1 | grep -E '^note|converged|^  (e|h0) +[0-9]' | sed -E 's/ after.*//' | cut -c1-84 | sed -E "s/(0\.82|1\.1) .*/\1/"
done

# a mass that shall come back: it has to be thrown against a stop, which the control at the start does not reach
cat >push.json <<'END'
{ "mbgrad": 1, "controls": { "u": {"times": [0, 0.5, 1], "values": 1.8} },
  "bodies": { "b": {"motion": "point", "mass": 1} },
  "joints": { "rail": {"type": "point-on-line", "between": ["ground", "b"], "at": [0, 0, 0], "axis": [1, 0, 0]} },
  "signals": { "x": {"type": "position", "of": "b", "component": 1}, "v": {"type": "velocity", "of": "b", "component": 1} },
  "forces": { "f": {"type": "force", "on": "b", "force": ["u", 0, 0]} },
  "events": { "stop": {"guard": "1 - x", "impact": {"restitution": 0.5}} },
  "criteria": { "goal": {"terminal": "(x - 0.95)^2 + 0.01*(v + 1)^2"} },
  "control": { "controls": {"u": {"min": -20, "max": 20}}, "objective": {"goal": 1}, "effort": 1e-6 },
  "run": {"end": 1, "step": 0.01} }
END
echo "control"
"$MBGRAD" control push.json 2>&1 | grep -E '^note|converged|goal ' | sed -E 's/: [0-9]+ iter.*//; s/(goal +)[0-9.]+e-(09|1[0-9]).*/\1below 1e-8/'
true
