# a parameter that only decides a comparison or a sign has derivatives of 0, and is told why
cat >model.json <<'END'
{
  "mbgrad": 1, "name": "switch",
  "parameters": { "m": 1, "ts": 0.2, "xs": 0.01, "c": 2, "w": 0.5, "tb": 0.1, "n": 1.5 },
  "constants": { "late": "ts + 0.1" },
  "bodies": { "b": { "motion": "planar-point", "mass": "m" } },
  "forces": { "push": { "type": "force", "on": "b", "force": ["if(t < late, c, 0)", "0", "0"] } },
  "signals": { "x": { "type": "position", "of": "b", "component": "x" },
    "s": { "type": "expression", "value": "if(x > xs and not (t < tb), x, 0) + sign(w - t)" },
    "z": { "type": "expression", "value": "x*(1 + 0*min(n, 2))" } },
  "criteria": { "end": { "terminal": "x" }, "js": { "integral": "s" }, "jz": { "terminal": "z" } },
  "run": { "end": 0.5, "step": 0.01 }
}
END
"$MBGRAD" gradient model.json --no-error-estimate | grep -A 9 '^gradient'
# the switch that the note recommends
sed 's|if(t < late, c, 0)|c*(1 - tanh((t - late)/0.02))/2|' model.json >smooth.json
"$MBGRAD" gradient smooth.json --no-error-estimate 2>/dev/null | grep '^  ts'
