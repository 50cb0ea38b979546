for family in chain tree ladder; do
  "$MBGRAD" new $family --bodies 12
  "$MBGRAD" check $family | sed -n 4,6p
  "$MBGRAD" gradient $family --end 0.05 --step 0.01 | sed -n '/^criteria/,/^$/p'
done
"$MBGRAD" new chain soft --bodies 3 --flexible 1 --masses 2
"$MBGRAD" simulate soft --end 0.001 --step 1e-5 2>&1 | grep -o "stable below .* s by frequency"
"$MBGRAD" new chain soft
"$MBGRAD" new chain small --bodies 3 --flexible 4
"$MBGRAD" new chain small --bodies 2.5
"$MBGRAD" new five-bar --bodies 3
