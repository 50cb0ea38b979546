# the program shown in docs/library.md is examples/gradient.c, and it prints what stands there
awk '/^```/ { inside = $0 == "```c"; next } inside' "$SRC/docs/library.md" | diff - "$SRC/examples/gradient.c"
awk '/^```/ { inside = $0 == "```text" && ++n == 1; next } inside' "$SRC/docs/library.md" | diff - "$SRC/examples/gradient.out"
