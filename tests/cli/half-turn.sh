# an angle that starts at half a turn is +180 deg, and a warning says that values may jump there; a rotor without load,
# whose reaction is rounding, does not stop the run
cp "$SRC/tests/reference/special/half-turn.json" "$SRC/tests/reference/spin/unloaded-rotor.json" .
"$MBGRAD" simulate half-turn.json --formulation lie --step 0.001 2>&1 | head -1
"$MBGRAD" gradient unloaded-rotor.json --criteria A --no-error-estimate 2>&1 | sed -n 1,5p
