# all optimizers and the continuation end at the same point; the best of several starts is taken; not under sanitizers
value() { python3 -c 'import json, sys; f = json.load(sys.stdin); print(*("%s %.'"${digits:-5}"'g" % (k, p["value"]) for k, p in f["parameters"].items()), len(f["starts"]))'; }
# costs carry the rounding of Newton's iterations, 1e-10: Levenberg-Marquardt ends where it no longer sees them fall
"$MBGRAD" identify noisy-pendulum --json --no-error-estimate | digits=4 value
"$MBGRAD" identify noisy-pendulum --json --no-error-estimate --optimizer lbfgs | value
"$MBGRAD" identify noisy-pendulum --json --no-error-estimate --optimizer cg | value
# descent ends where the cost no longer falls, a little before
"$MBGRAD" identify noisy-pendulum --json --no-error-estimate --optimizer steepest | digits=3 value
"$MBGRAD" identify ringing-mass --json --no-error-estimate --homotopy 6 | value
"$MBGRAD" identify ringing-mass --json --no-error-estimate --starts 4 --iterations 20 --fit-tolerance 1e-6 | value
# without either it ends in a local minimum, and says so
"$MBGRAD" identify ringing-mass --json --no-error-estimate --iterations 5 >fit.json
echo "status $?"
value <fit.json
