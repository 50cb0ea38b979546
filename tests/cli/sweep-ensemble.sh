# four points at a time: the same table, byte for byte, for any number of threads, any parts, and after resuming
sweep() { "$MBGRAD" sweep five-bar --vary L01=2:2.5:7 --vary k1=80,120 --end 0.2 "$@"; }
sweep --out single.csv
sweep --ensemble | cmp - single.csv && echo "as one by one"
sweep --ensemble --jobs 3 | cmp - single.csv && echo "in three threads"
for i in 1 2 3; do sweep --ensemble --records parts --shard $i/3 2>/dev/null; done
"$MBGRAD" merge parts | cmp - single.csv && echo "three parts are the whole"
sweep --records both --shard 1/2 2>/dev/null
sweep --ensemble --records both --resume --jobs 2 | cmp - single.csv && echo "half of it one by one, resumed together"
# all kinds of criteria, points that fail, values alone
quarter() { "$MBGRAD" sweep quarter-car --formulation ali3p --vary p1=43000:45000:3 --vary p4=0.598:0.602:3 --end 0.2 "$@"; }
quarter --out quarter.csv
quarter --ensemble --jobs 2 | cmp - quarter.csv && echo "quarter car"
quarter --no-gradient --out values.csv
quarter --no-gradient --ensemble | cmp - values.csv && echo "values alone"
fail() { "$MBGRAD" sweep five-bar --vary m2=-1,1,1.1,1.2,1.3 --vary k1=90,100 --end 0.1 "$@" 2>&1; }
fail >fail.txt
fail --ensemble | cmp - fail.txt && echo "points that fail"
# what has no vectors goes one by one; error control is refused
"$MBGRAD" sweep five-bar --formulation lie --vary k1=80,120 --end 0.1 --ensemble 2>note.err | wc -l
grep -c "one by one" note.err
"$MBGRAD" sweep five-bar --formulation lie --vary k1=80,120 --end 0.1 --ensemble --tolerance 1e-6
echo "status $?"
