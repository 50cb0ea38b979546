# sweeps killed (-9) at random and resumed give the same table; 20 kills of 2000 points with MBG_TEST_LONG; not under
# sanitizers
kills=4 points=60
[ -z "${MBG_TEST_LONG:-}" ] || kills=20 points=2000
/usr/bin/python3 "$SRC/tests/cli/record-kills.py" "$MBGRAD" $kills $points jobs shards
