# the table of docs/gradients.md: what each formulation takes, and by which methods
python3 "$SRC/tools/capabilities" --check "$MBGRAD" && echo "docs/gradients.md is what the program does"
sed 's/| d a c p | d a c p | d a c |/| d |/' "$SRC/docs/gradients.md" | cmp -s - "$SRC/docs/gradients.md" || echo "and has cells"
