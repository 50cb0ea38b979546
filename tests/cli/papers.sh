# The tables and figures of docs/papers are what the program prints today (not under sanitizers: the commands have tests of their own).
"$SRC"/tools/paper-figures --check --program "$MBGRAD"
