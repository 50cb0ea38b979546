# several starts of an identification in processes and as records of a folder: parts, killed, resumed, the result of one
# program
identify() { timeout 100 "$MBGRAD" identify ringing-mass --starts 5 --iterations 8 "$@"; }
identify >whole
identify --jobs 2 | cmp - whole && echo "processes"
identify --records r --shard 1/2 --jobs 2
identify --records r --shard 2/2
identify --records r --resume | cmp - whole && echo "the best of two parts"
"$MBGRAD" merge r | cut -d, -f1,4,5,8
for after in 0.05 0.1 0.2; do timeout -s KILL $after "$MBGRAD" identify ringing-mass --starts 5 --iterations 8 --records killed --resume >/dev/null; done 2>/dev/null
identify --records killed --resume | cmp - whole && echo "killed and resumed"
"$MBGRAD" merge r >table && "$MBGRAD" merge killed | cmp - table && echo "the same table"
# a record that is damaged: its start is read from the evaluations of its search
for file in killed/*.records; do sed -i '2s/^p \(.\) ./p \1 7/' "$file"; done
identify --records killed --resume 2>/dev/null | cmp - whole && echo "damaged and resumed"
"$MBGRAD" merge killed 2>/dev/null | cmp - table && echo "the same table again"
# the continuation before the starts
pulled() { identify --homotopy 2 --no-error-estimate --json "$@"; }
pulled >whole.json
pulled --records h --jobs 2 | cmp - whole.json && echo "continuation"
identify --records r
identify --records r --resume --seed 2
identify --records r --restart x
"$MBGRAD" identify ringing-mass --records r
"$MBGRAD" identify ringing-mass --resume
echo "status $?"
