# several starts of an optimization as records of a folder: parts, resumed, the result of one program
optimize() { timeout 100 "$MBGRAD" optimize quarter-car-design --starts 5 --iterations 8 --no-error-estimate --end 0.4 "$@"; }
clean() { sed -E '/second/d'; }
optimize 2>/dev/null | clean >whole
optimize --records r --shard 1/2 --jobs 2
optimize --records r --shard 2/2
optimize --records r --resume 2>/dev/null | clean | cmp - whole && echo "the best of two parts"
"$MBGRAD" merge r | cut -d, -f1,8,9
optimize --records r
optimize --records r --resume --seed 2
optimize --records r --restart x
"$MBGRAD" optimize quarter-car-design --records r
"$MBGRAD" optimize quarter-car-design --resume
echo "status $?"
