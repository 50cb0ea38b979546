# robots of URDF, SDF and MJCF: what comes out, what the report says, and that it runs
cp "$SRC"/tests/fuzz/corpus/arm.urdf "$SRC"/tests/fuzz/corpus/loop.urdf "$SRC"/tests/fuzz/corpus/leg.sdf "$SRC"/tests/fuzz/corpus/walker.xml .
for robot in arm.urdf loop.urdf leg.sdf walker.xml; do
  echo "== $robot"
  "$MBGRAD" import $robot
  "$MBGRAD" check "${robot%.*}" | sed -n '4,7p'
  "$MBGRAD" gradient "${robot%.*}" --all --end 0.05 | grep -c "body "
done
echo "== parameters, and nothing but inertia"
"$MBGRAD" import arm.urdf --out bare --without limits,damping,friction --parameters mass,com >report
sed '1,2d; /^$/,$d' report | cmp - bare/import.txt
"$MBGRAD" gradient bare --end 0.05 | sed -n '/mass_hand/p'
sed -n '/^    "mass_hand"/,/}/p' bare/model.json
echo "== free and with fixed links"
"$MBGRAD" import leg.sdf --out free --base free --keep-fixed | tail -n 4
"$MBGRAD" check free | sed -n '4,6p'
echo "== nested and included models, at a keyframe"
cp -r "$SRC"/tests/fuzz/corpus/cart.sdf "$SRC"/tests/fuzz/corpus/wheel "$SRC"/tests/fuzz/corpus/key.xml .
"$MBGRAD" import cart.sdf --base free | sed "s|at .*/wheel|at wheel|"
"$MBGRAD" check cart | sed -n '4,6p'
"$MBGRAD" import key.xml --start home
"$MBGRAD" simulate key --end 0.01 --quiet --out key.csv && head -n 1 key.csv
sed -n '/^  "initial"/,/^    }/p' key/model.json | head -n 12
