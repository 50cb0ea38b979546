# a linear modal body that spins fast, or bends far, is simulated with a warning
cat >spin.json <<'JSON'
{
  "mbgrad": 1,
  "bodies": {
    "blade": { "type": "modal", "motion": "planar", "modes": 2, "angular_velocity": [0, 0, 30],
               "beam": { "length": 1, "elements": 8, "E": 7e10, "nu": 0.3, "rho": 2700, "section": { "type": "rectangle", "width": 0.01, "height": 0.05 } } } },
  "joints": { "hub": { "type": "revolute", "between": ["ground", "blade"] } },
  "signals": { "a": { "type": "coordinate", "joint": "hub" } },
  "run": { "end": 0.01, "step": 0.001 }
}
JSON
cat >bend.json <<'JSON'
{
  "mbgrad": 1,
  "bodies": {
    "blade": { "type": "modal", "motion": "planar", "modes": 1, "deformation": [0.4],
               "beam": { "length": 1, "elements": 8, "E": 7e10, "nu": 0.3, "rho": 2700, "section": { "type": "rectangle", "width": 0.01, "height": 0.05 } } } },
  "markers": { "tip": { "on": "blade", "at": [1, 0, 0] } },
  "joints": { "hub": { "type": "fixed", "between": ["ground", "blade"] } },
  "signals": { "y": { "type": "position", "of": "tip", "component": "y" } },
  "run": { "end": 0.01, "step": 0.001 }
}
JSON
for formulation in lie qr ali3p; do
  "$MBGRAD" simulate spin.json --formulation $formulation >/dev/null
  "$MBGRAD" simulate bend.json --formulation $formulation >/dev/null
done
