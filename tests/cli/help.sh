"$MBGRAD" help
for command in check list new help version; do
  echo "== $command"
  "$MBGRAD" help $command
  "$MBGRAD" $command --help >again
  "$MBGRAD" help $command | cmp - again
done
"$MBGRAD" --help >again
"$MBGRAD" help | cmp - again
# texts of options are broken between words, not cut off
"$MBGRAD" help gradient | grep -A1 -e '--method'
