# rho_inf is the damping of lie, alpha_f that of dae: neither changes the other formulation
model() { cat >"$1.json" <<END
{ "mbgrad": 1, "parameters": { "k": 400 },
  "bodies": { "b": { "motion": "planar-point", "mass": 1, "position": [1, 0, 0] } },
  "forces": { "s": { "type": "spring-damper", "between": ["ground", "b"], "along": "x", "stiffness": "k", "damping": 0.5 } },
  "signals": { "x": { "type": "position", "of": "b", "component": "x" } },
  "criteria": { "end": { "terminal": "x" } },
  "run": { "end": 1, "step": 0.02 $2 } }
END
}
value() { "$MBGRAD" gradient "$@" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["criteria"]["end"]["value"])'; }
model plain ''
model rho ', "rho_inf": 0.5'
model alpha ', "formulation": "dae", "alpha_f": 0.3'
model wrong ', "alpha_f": 0.3'
lie=$(value plain.json) dae=$(value plain.json --formulation dae)
[ "$lie" != "$dae" ] && echo lie and dae differ
[ "$(value rho.json)" != "$lie" ] && echo rho_inf is for lie
[ "$(value rho.json --formulation dae)" = "$dae" ] && echo and not for dae
[ "$(value alpha.json)" != "$dae" ] && echo alpha_f is for dae
[ "$(value alpha.json --formulation lie)" = "$lie" ] && echo and not for lie
[ "$(value wrong.json)" = "$lie" ] && echo also in a file without a formulation
