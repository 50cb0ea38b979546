# what the creep of frictions leaves in criteria: a block that friction holds on an incline, at 0.7 of the limit, for 1 s
# (theory 7, section 10); psi - vs dpsi/dvs is nearly 0, while the block slides by 17, 8.6 and 4.3 mm
for vs in 0.02 0.01 0.005; do
  cat >block.json <<END
{ "mbgrad": 1, "parameters": { "mu": 0.5, "slope": 0.3366748 },
  "gravity": ["9.81*sin(slope)", "-9.81*cos(slope)", 0],
  "bodies": { "block": {"mass": 1, "motion": "planar-point", "position": [0, 0.0999, 0]} },
  "forces": { "floor": {"type": "contact", "on": "block", "shape": "sphere-plane", "up": "y", "radius": 0.1, "stiffness": 1e5, "exponent": 1,
    "width": 1e-5, "damping": 20, "friction": "mu", "slip_speed": $vs} },
  "signals": { "x": {"type": "position", "of": "block", "component": "x"} },
  "criteria": { "slid": {"terminal": "x"} }, "run": {"end": 1, "step": 0.002} }
END
  "$MBGRAD" check --gradient block.json | awk -v vs=$vs '/floor/ {
    printf "vs %s: slides %.1f mm, without creep less than %s mm\n", vs, 1e3*$5, 1e3*($5 + $6) < 0.2 ? "0.2" : "more" }'
done
"$MBGRAD" check --gradient block.json | sed -n '/^creep/,/^$/p' | sed -E '3s/  +[0-9.]+  +-[0-9.]+$/ VALUES/; 3s/  +/ /g'
