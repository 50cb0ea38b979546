# a disk that is full ends a sweep with a message, and what was recorded stays; two programs that merge at once
sweep() { "$MBGRAD" sweep five-bar --vary L01=2:2.5:40 --end 0.02 "$@"; }
sweep --out whole.csv
(
  ulimit -f 2
  trap '' XFSZ
  sweep --records r >/dev/null
  echo "status $?"
) 2>&1 | sed -E 's/[a-zA-Z0-9_]+-[0-9]+-[0-9]+\.records/FILE/g'
"$MBGRAD" merge r --status | sed -n '4p;6p' | sed 's/[0-9][0-9]*$/N/'
sweep --records r --resume | cmp - whole.csv && echo "resumed"
for i in 1 2 3 4 5 6; do "$MBGRAD" merge r --out merged.csv & done
wait
cmp merged.csv whole.csv && echo "six at once"
for i in 1 2; do sweep --records both --resume >$i.csv & done
wait
cmp 1.csv whole.csv && cmp 2.csv whole.csv && "$MBGRAD" merge both | cmp - whole.csv && echo "two sweeps in one folder"
echo "a plan that cannot be written"
(
  ulimit -f 0
  trap '' XFSZ
  sweep --records none >/dev/null
  echo "status $?"
) 2>&1 | cat
sweep --records missing/folder >/dev/null 2>&1
echo "a folder of no folder: status $?"
