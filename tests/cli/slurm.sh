# the scripts of a job array; tests/slurm runs them
sweep() { "$MBGRAD" sweep five-bar --vary L01=2:2.5:5 --end 0.1 "$@"; }
sweep --records "it is" --slurm 2 --out "the table.csv"
for script in part merge submit; do sh -n "it is/$script.sh" && sed "s#$PWD#HERE#g; s#'[^']*/mbgrad'#'mbgrad'#" "it is/$script.sh"; done
for i in 1 2; do SLURM_ARRAY_TASK_ID=$i sh "it is/part.sh" 2>/dev/null; done
sh "it is/merge.sh" && sweep | cmp - "the table.csv" && echo "the same table"
sweep --slurm 2
sweep --slurm 20 --records r
sweep --slurm 2 --records r --shard 1/2
sweep --submit --records r
PATH=/nowhere "$MBGRAD" sweep five-bar --vary L01=2:2.5:5 --records r --slurm 2 --submit 2>/dev/null
echo "status $?"
