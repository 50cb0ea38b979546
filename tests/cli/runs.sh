# --run chooses one of the runs of a model file
cat >model.json <<'JSON'
{
  "mbgrad": 1,
  "parameters": { "F": 1, "m": { "value": 2, "min": 1 } },
  "constants": { "factor": 1 },
  "bodies": { "b": { "motion": "planar-point", "mass": "m" } },
  "forces": { "push": { "type": "force", "on": "b", "force": ["F*factor", 0, 0] } },
  "signals": { "x": { "type": "position", "of": "b", "component": "x" }, "v": { "type": "velocity", "of": "b", "component": "x" } },
  "criteria": { "last": { "terminal": "x" }, "fast": { "terminal": "v" } },
  "run": { "end": 1, "step": 0.1 },
  "runs": {
    "twice": { "set": { "factor": 2 }, "criteria": ["last"] },
    "long": { "end": 2, "set": { "m": 4, "factor": "F" }, "note": "a heavy one" }
  }
}
JSON
values() { python3 -c 'import json, sys; print({k: (round(c["value"], 9), {p: round(g, 9) for p, g in c["gradient"].items()}) for k, c in json.load(sys.stdin)["criteria"].items()})'; }
"$MBGRAD" gradient model.json --json | values
"$MBGRAD" gradient model.json --run twice --json | values
"$MBGRAD" gradient model.json --run long --set F=3 --json | values
"$MBGRAD" simulate model.json --run long --signals x | grep 't ='| sed 's/, [0-9.e-]* s$//'
"$MBGRAD" check model.json --run twice | grep -A3 ^criteria
"$MBGRAD" check model.json --run lon
echo "status $?"
"$MBGRAD" simulate five-bar --run twice
echo "status $?"
