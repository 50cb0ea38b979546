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
ranks 2 "$MBGRAD-mpi" $sweep
ranks 2 "$MBGRAD-mpi" $sweep --records r
ranks 2 "$MBGRAD-mpi" check five-bar
sample="uncertainty five-bar --spread k1=1 --first-order --end 0.1 --samples 8"
"$MBGRAD" $sample >report
NO_COLOR=1 mpirun --oversubscribe --allow-run-as-root -n 2 "$MBGRAD-mpi" $sample --records s 2>/dev/null | cmp - report && echo "samples"
kills=2 points=60
[ -z "${MBG_TEST_LONG:-}" ] || kills=20 points=2000
/usr/bin/python3 "$SRC/tests/cli/record-kills.py" "$MBGRAD" $kills $points mpi
