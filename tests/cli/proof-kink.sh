# a kink at the parameters: proven on one side, and said
cat >kink.json <<'JSON'
{
  "mbgrad": 1,
  "parameters": {"a": 0, "b": 2},
  "bodies": {"ball": {"mass": 1, "motion": "point", "velocity": ["b", 0, 0]}},
  "signals": {"x": {"type": "position", "of": "ball", "component": "x"}},
  "criteria": {"reach": {"terminal": "x*x + max(a, 0)"}},
  "run": {"end": 1, "step": 0.01}
}
JSON
"$MBGRAD" check kink.json --gradient | sed -n 3,5p
