# stopped and resumed: the same end, to the last digit
"$MBGRAD" identify noisy-pendulum --no-error-estimate --json >whole.json
"$MBGRAD" identify noisy-pendulum --no-error-estimate --json --iterations 3 --restart fit.restart >part.json
echo "status $?"
"$MBGRAD" identify noisy-pendulum --no-error-estimate --json --restart fit.restart --resume >resumed.json
echo "status $?"
head -n 1 fit.restart | sed 's/[0-9a-f]\{16\}$/HASH/'
python3 - <<'PY'
import json
whole, part, resumed = (json.load(open(name + ".json")) for name in ("whole", "part", "resumed"))
for fit in (whole, part, resumed):
    fit.pop("evaluations")
print("the part differs:", part["parameters"] != whole["parameters"], "- the end is the same:", resumed == whole)
PY
# a record of another identification
"$MBGRAD" identify ringing-mass --no-error-estimate --restart fit.restart --resume
