# The self-test passes by every formulation; colours go to terminals alone
"$MBGRAD" doctor >out; echo "status $?"
grep -e passed out | awk '{ print $1, $2 }'
tail -n 1 out
grep -c -e 'libopenblas\|liblapack' out | sed 's/[1-9][0-9]*/linear algebra is named/'
echo "-- errors in colour on a terminal"
script -q -E never -ec "$MBGRAD chekc" /dev/null </dev/null | tr -d '\r' | cat -v
NO_COLOR=1 script -q -E never -ec "$MBGRAD chekc" /dev/null </dev/null | tr -d '\r' | cat -v
TERM=dumb script -q -E never -ec "$MBGRAD chekc" /dev/null </dev/null | tr -d '\r' | cat -v
"$MBGRAD" chekc 2>&1 | cat -v
exit 0
