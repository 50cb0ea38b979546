# positions where constraints lose rank: a warning, or an error that names time, joint and row, in every formulation
models=$SRC/tests/reference/special
# numbers that depend on rounding read as #; what is said about the steps is left out
words() { sed -E 's/(t = |condition |\(h = |change |residual |step |pivot |by |and )[0-9][-+.0-9e]*/\1#/g; s/[0-9]+ (attempts|iterations|in all)/# \1/; s/fell to [-+.0-9e]*/fell to #/' "$1" | grep -v 'adds or takes energy\|error of the steps'; }
try() {
  timeout 60 "$MBGRAD" "$@" --json >out 2>err
  echo "exit $?: ${*//$models\//}"
  words err
}
for formulation in lie dae qr ali3p dca; do
  for model in three-cranks dead-point slider-crank-equal parallelogram-driven parallelogram-free; do
    try gradient $models/$model.json --formulation $formulation
  done
done
echo "a simulation goes on through the position: the slider of equal crank and rod, by every formulation that passes"
for formulation in lie dae ali3p; do
  "$MBGRAD" simulate $models/slider-crank-equal.json --formulation $formulation 2>&1 | grep '^  J' | cut -c1-9
done
echo "steps under error control end with a message, too"
try simulate $models/dead-point.json --formulation lie --tolerance 1e-6
try simulate $models/dead-point.json --formulation dae --tolerance 1e-6
try simulate $models/three-cranks.json --formulation dca --tolerance 1e-11
try simulate four-bar-chain --formulation dca --tolerance 1e-9
echo "dca locks at every step"
for step in 0.005 0.001 0.0002; do
  try simulate $models/dead-point.json --formulation dca --step $step
done
