# the same report and restart file with any number of jobs and ranks: experiments in threads and in mbgrad-mpi; not under
# sanitizers
/usr/bin/python3 - "$SRC" <<'PY'
import json, math
def data(x0, shift):
    times = [0.1 * i for i in range(1, 10)]
    return {"time": times, "value": [x0 * math.cos(3.4 * t) * math.exp(-0.1 * t) + 0.01 * math.sin(37 * t + shift) for t in times]}
json.dump({"mbgrad": 1, "parameters": {"k": {"value": 9, "min": 1, "max": 50}, "c": {"value": 0.1, "min": 0, "max": 5}},
  "constants": {"x0": 1}, "bodies": {"b": {"motion": "planar-point", "mass": 1, "position": ["x0", 0, 0]}},
  "forces": {"s": {"type": "spring-damper", "between": ["ground", "b"], "along": "x", "stiffness": "k", "damping": "c"}},
  "signals": {"x": {"type": "position", "of": "b", "component": "x"}},
  "criteria": {"fit": {"least_squares": "x", "data": data(1, 0)}}, "run": {"end": 1, "step": 0.01},
  "runs": {"a": {}, "b": {"set": {"x0": 1.1}, "step": 0.005}, "c": {"set": {"x0": 0.9}}}}, open("fits.json", "w"))
PY
for optimizer in lm lbfgs; do
  "$MBGRAD" identify fits.json --optimizer $optimizer --hessian --json --restart one.$optimizer >one 2>messages
  for jobs in 2 3; do
    "$MBGRAD" identify fits.json --optimizer $optimizer --hessian --json --restart jobs$jobs.$optimizer --jobs $jobs 2>other |
      cmp - one && cmp one.$optimizer jobs$jobs.$optimizer && cmp messages other && echo "$optimizer: $jobs jobs"
  done
  for n in 2 4; do
    if [ -x "$MBGRAD-mpi" ] && command -v mpirun >/dev/null; then
      mpirun --oversubscribe --allow-run-as-root -n $n "$MBGRAD-mpi" identify fits.json --optimizer $optimizer --hessian --json --restart ranks$n.$optimizer --jobs 2 2>/dev/null |
        tr -d '\r' | cmp - one && cmp one.$optimizer ranks$n.$optimizer
    fi && echo "$optimizer: $n ranks"
  done
done
grep '"converged"' one
# stopped and resumed with another number of jobs
head -4 one.lm >cut
"$MBGRAD" identify fits.json --hessian --json --restart cut --resume --jobs 3 >/dev/null 2>&1 && cmp cut one.lm && echo "resumed"
"$MBGRAD" identify fits.json --jobs 0
