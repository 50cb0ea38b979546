# the trap of docs/identify.md: index 3 and noisy accelerations, the derivative by a length has the wrong sign
for method in direct adjoint continuous continuous-paper; do
  "$MBGRAD" gradient noisy-pendulum --run trap --set L=0.8 --set d=0.08 --method $method --json |
    python3 -c 'import json, sys; g = json.load(sys.stdin)["criteria"]["area"]["gradient"]; print("%-17s %+.4f %+.4f" % (sys.argv[1], g["L"], g["d"]))' $method
done
# the table of the page has these numbers
grep -E '^\| `(direct|continuous)' "$SRC/docs/identify.md"
