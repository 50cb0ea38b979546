# numbers that are not finite become errors, in every formulation and command
models=$SRC/tests/reference/special
try() {
  timeout 60 "$MBGRAD" "$@" >out 2>err
  echo "exit $?: ${*//$models\//}"
  sed -E "s/(reaches |t = |step )[-+.0-9e]+/\1#/g; s/component [0-9]+/component #/" err
  grep -E -i '\bnan\b|\binf\b|null' out
}
for formulation in lie dae qr ali3p dca; do
  try gradient $models/huge-coordinate.json --formulation $formulation --json
  try gradient $models/late-start.json --formulation $formulation --json
  try gradient $models/light-body.json --formulation $formulation --json
done
try simulate $models/late-start.json --step 0.01
try simulate $models/late-start.json --end 1700000010 --step 0.001
try simulate $models/late-start.json --end 1700000010 --step 0.01
cat >growth.json <<'JSON'
{
  "mbgrad": 1,
  "parameters": { "w": 1e-4 },
  "bodies": { "c": { "motion": "planar-point", "mass": 1, "position": [0, 0, 0], "velocity": ["1e4*w", 0, 0] } },
  "signals": {
    "x": { "type": "position", "of": "c", "component": "x" },
    "e": { "type": "expression", "value": "exp(700*x)" }
  },
  "criteria": { "J": { "terminal": "e" } },
  "run": { "end": 1, "step": 0.01 }
}
JSON
for formulation in lie dae qr ali3p dca; do
  for command in simulate gradient; do
    try $command growth.json --formulation $formulation
  done
done
try sweep growth.json --vary w=5e-5,1e-4
try check growth.json --gradient
echo "entries of vectors have names"
sed 's/"w": 1e-4/"w": { "value": [1, 1, 1e-4] }/; s/1e4\*w/1e4*w[2]/' growth.json >vector.json
try gradient vector.json
