# a beam that is twisted further and further: elements that turn by more than 2 rad give a warning, near pi the run ends
cat >twist.json <<'JSON'
{
  "mbgrad": 1,
  "beams": {
    "arm": { "elements": 2, "to": [1, 0, 0], "section": { "type": "circle", "diameter": [0.02, 0.019] }, "E": 1e7, "nu": 0.3, "rho": 1000, "damping": 0.01 } },
  "joints": { "clamp": { "type": "fixed", "between": ["ground", "arm.0"] } },
  "forces": { "twist": { "type": "force", "on": "arm.2", "in": "body", "torque": ["2*t", 0, 0] } },
  "signals": { "y": { "type": "direction", "of": "arm.2", "axis": "y", "component": "y" } },
  "criteria": { "c": { "terminal": "y" } },
  "run": { "end": 0.1, "step": 0.001 }
}
JSON
for formulation in lie dae; do
  for end in 0.1 0.12 0.3; do
    echo "$formulation, $end s"
    "$MBGRAD" simulate twist.json --formulation $formulation --end $end 2>&1 >/dev/null
  done
done
echo "controlled steps"
sed 's/"step": 0.001/"tolerance": 1e-4/' twist.json >controlled.json
"$MBGRAD" simulate controlled.json --end 0.12 2>&1 >/dev/null | sed "s/ at t = [0-9.]*//"
for formulation in lie dae; do
  "$MBGRAD" simulate controlled.json --formulation $formulation --end 0.3 2>&1 >/dev/null | sed "s/ at t = [0-9.]*//"
done
echo "equilibrium"
sed 's/"2\*t"/5/; s/"run"/"initial": { "start": "equilibrium" }, "run"/' twist.json >static.json
"$MBGRAD" simulate static.json 2>&1 >/dev/null
echo "explicit steps"
"$MBGRAD" simulate twist.json --formulation qr --integrator rk4 --step 0.001 2>&1 >/dev/null
"$MBGRAD" simulate twist.json --formulation dca --integrator rk4 --step 0.001 2>&1 >/dev/null
"$MBGRAD" simulate twist.json --formulation qr --end 300 2>&1 >/dev/null
echo "implicit steps"
"$MBGRAD" simulate twist.json --formulation qr --integrator bdf --end 0.12 2>&1 >/dev/null | sed "s/ at t = [0-9.]*//"
