# what optimizers need with second derivatives, and scatter against samples, by the commands of the pages; not under sanitizers.
# MBG_TEST_LONG=1: every problem of bench/second-order, no optimum worse than with first derivatives; 100000 samples
words="crane, effort 1e-6, end exact" samples=300
[ -z "${MBG_TEST_LONG:-}" ] || words="" samples=100000
"$SRC/bench/second-order" "$MBGRAD" "$words" >table; echo "optima: status $?"
python3 - <<'END2'
# IPOPT makes one matrix of 31 products in each iteration: at most 12 and 13 (theory 9, section 7)
for row in open("table"):
    if row.startswith("crane, effort 1e-6, end exact") and "ipopt-exact" in row:
        words = row.split("ipopt-exact")[1].split()
        limit = 12 if "30 N" in row else 13
        print(row[:37].strip(), int(words[2]) % 31 == 0, int(words[2]) // 31 <= limit, words[4])
END2
"$SRC/bench/scatter" "$MBGRAD" $samples 2 >table; echo "scatter: status $?"
tail -n +2 table | wc -l
