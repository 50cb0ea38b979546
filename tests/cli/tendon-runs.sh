# tendons that a run carries off their pulleys, into them, or to no length, in every formulation
rope() { # VELOCITY VIA
  cat >rope.json <<END
{"mbgrad": 1, "gravity": [0, -9.81, 0],
 "bodies": {"load": {"motion": "planar-point", "mass": 1, "position": [0.1, -1, 0], "velocity": $1}},
 "markers": {"drum": {"on": "ground", "at": [-1, 0.1, 0]}, "block": {"on": "ground", "at": [0, 0, 0]},
             "low": {"on": "load", "at": [0, 0, 0]}},
 "forces": {"rope": {"type": "elastic-tendon", "via": $2, "stiffness": 500, "rest": 2, "slack": 0.1}},
 "run": {"end": 1, "step": 0.002}}
END
}
runs() {
  for formulation in lie dae ali3p dca qr; do
    "$MBGRAD" simulate rope.json --formulation $formulation 2>&1 | grep -E 'error' | sed 's/t = [0-9.e-]*/t = .../; s/: [0-9.]* m from/: ... m from/; s/step [0-9.e-]*/step .../'
  done
}
over='["drum", {"pulley": "block", "radius": 0.1, "side": "right"}, "load"]'
rope '[8, 0, 0]' "$over"
runs
rope '[-1, 15, 0]' "$over"
runs
rope '[0, 0, 0]' '["drum", "load", "low"]'
"$MBGRAD" simulate rope.json 2>&1 | grep -E 'error'
