# killed (-9) at any moment: former outputs are intact or new ones complete, and resumed searches end the same, bit for
# bit; 50 kills of each command with MBG_TEST_LONG; not under sanitizers
kills=3
[ -z "${MBG_TEST_LONG:-}" ] || kills=50
/usr/bin/python3 "$SRC/tests/cli/kills.py" "$MBGRAD" $kills 2>/dev/null
