# ranks of mbgrad-mpi share a sweep: its table is that of one program, also after kills; skipped without MPI; not under
# sanitizers
sweep="sweep quarter-car-design --random 40 --vary k --vary c --end 0.1"
ranks() { mpirun --oversubscribe --allow-run-as-root -n "$@" 2>&1 | grep '^mbgrad' | sort -u; }
if [ ! -x "$MBGRAD-mpi" ] || ! command -v mpirun >/dev/null; then
  cat "$SRC/tests/cli/mpi.out"
  exit 0
fi
"$MBGRAD" $sweep --out whole.csv
ranks 4 "$MBGRAD-mpi" $sweep --records r --out four.csv
cmp four.csv whole.csv && "$MBGRAD" merge r --status
"$MBGRAD" merge r | cmp - whole.csv && echo "records of four ranks"
"$MBGRAD-mpi" $sweep --jobs 2 | cmp - whole.csv && echo "without mpirun"
# another program adds records while the ranks begin: rank 1 sees those of a third, rank 0 none
"$MBGRAD" $sweep --records rank1 --shard 1/3 2>/dev/null
mpirun --oversubscribe --allow-run-as-root -n 1 "$MBGRAD-mpi" $sweep --records rank0 : -n 1 "$MBGRAD-mpi" $sweep --records rank1 --resume >first.csv 2>/dev/null
cp rank1/*.records rank0 && "$MBGRAD" merge rank0 | cmp - whole.csv && echo "one list for all ranks"
# a damaged record is named once
cp -r r damaged && sed -i '3s/ 4/ 5/' "$(ls damaged/*.records | head -n 1)"
mpirun --oversubscribe --allow-run-as-root -n 3 "$MBGRAD-mpi" $sweep --records damaged --resume 2>said | cmp - whole.csv && grep -c 'damaged and does not count' said
# what a rank has not recorded is missing: no table is complete without it
mkdir lost
mpirun --oversubscribe --allow-run-as-root -n 1 "$MBGRAD-mpi" $sweep --records mine : -n 3 "$MBGRAD-mpi" $sweep --records lost >part.csv 2>told
echo "status $(grep -q 'not run' part.csv && grep -c '^mbgrad: error: incomplete; [0-9]* of 40 points are recorded: --resume computes the others' told)"
ranks 2 "$MBGRAD-mpi" $sweep
ranks 2 "$MBGRAD-mpi" $sweep --records r
ranks 2 "$MBGRAD-mpi" check five-bar
sample="uncertainty five-bar --spread k1=1 --first-order --end 0.1 --samples 8"
"$MBGRAD" $sample >report
NO_COLOR=1 mpirun --oversubscribe --allow-run-as-root -n 2 "$MBGRAD-mpi" $sample --records s 2>/dev/null | cmp - report && echo "samples"
# load cases of a search, spread over ranks: the same numbers, restart file and messages as those of one program
/usr/bin/python3 - "$SRC" <<'PY'
import json, sys
model = json.load(open(sys.argv[1] + "/gallery/quarter-car-design/model.json"))
model["constants"]["z"] = 0.03
tyre = model["forces"]["tyre"]
tyre["force"] = tyre["force"].replace("0.03*", "z*")
model["runs"] = {"bump": {}, "hole": {"set": {"z": -0.02}, "end": 0.6}, "ramp": {"set": {"z": 0.01}, "step": 0.004}}
model["run"]["end"] = 0.4
json.dump(model, open("sum.json", "w"))
model["optimize"]["combine"] = "worst"
json.dump(model, open("worst.json", "w"))
model["runs"]["ramp"]["set"]["z"] = 1e9
json.dump(model, open("broken.json", "w"))
times = {"time": [0.1, 0.2, 0.3, 0.4], "value": [0.9, 0.5, 0.2, 0.1]}
json.dump({"mbgrad": 1, "parameters": {"k": {"value": 9, "min": 1, "max": 50}}, "constants": {"x0": 1},
  "bodies": {"b": {"motion": "planar-point", "mass": 1, "position": ["x0", 0, 0]}},
  "forces": {"s": {"type": "spring-damper", "between": ["ground", "b"], "along": "x", "stiffness": "k"}},
  "signals": {"x": {"type": "position", "of": "b", "component": "x"}},
  "criteria": {"fit": {"least_squares": "x", "data": times}}, "run": {"end": 0.5, "step": 0.01},
  "runs": {"a": {}, "b": {"set": {"x0": 1.1}}, "c": {"set": {"x0": 0.9}}}, "optimize": {"objective": "fit"}},
  open("squares.json", "w"))
PY
for model in sum worst squares; do
  "$MBGRAD" optimize $model.json --curvature --json --restart $model.one 2>/dev/null | grep -v seconds >one
  for n in 2 4; do
    mpirun --oversubscribe --allow-run-as-root -n $n "$MBGRAD-mpi" optimize $model.json --curvature --json --restart $model.$n --jobs 2 2>/dev/null |
      tr -d '\r' | grep -v seconds | cmp - one && cmp $model.one $model.$n && echo "$model: $n ranks"
  done
done
grep '"status"' one
# stopped and resumed with another number of ranks
head -4 worst.one >cut
mpirun --oversubscribe --allow-run-as-root -n 3 "$MBGRAD-mpi" optimize worst.json --restart cut --resume --quiet && cmp cut worst.one && echo "resumed"
"$MBGRAD" optimize broken.json 2>message
ranks 3 "$MBGRAD-mpi" optimize broken.json | cmp - message && echo "message of a load case"
ranks 2 "$MBGRAD-mpi" optimize sum.json --starts 3
kills=2 points=60
[ -z "${MBG_TEST_LONG:-}" ] || kills=20 points=2000
/usr/bin/python3 "$SRC/tests/cli/record-kills.py" "$MBGRAD" $kills $points mpi
