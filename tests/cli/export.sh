# models as URDF and MJCF: the files, their lists, numbers that go back into the original, and refusals by name
cp "$SRC"/tests/fuzz/corpus/{arm.urdf,leg.sdf,walker.xml,loop.urdf} .
for robot in arm.urdf leg.sdf loop.urdf; do
  "$MBGRAD" import $robot --parameters mass,damping >/dev/null
done
"$MBGRAD" export arm --out again.urdf
sed -n '/<joint name="lift"/,/<\/joint>/p' again.urdf
"$MBGRAD" export leg --out again.xml
sed -n '/<equality>/,$p' again.xml
echo "== there and back"
"$MBGRAD" import again.xml >/dev/null
"$MBGRAD" check again | sed -n '4,7p'
echo "== numbers go back"
"$MBGRAD" export arm --into arm.urdf --out same.urdf
cmp arm.urdf same.urdf
"$MBGRAD" export arm --set mass_hand=0.7 --set damping_pan=0.9 --into arm.urdf --out heavy.urdf
diff arm.urdf heavy.urdf
"$MBGRAD" export leg --set damping_hip=0.9 --into leg.sdf --out - | diff leg.sdf -
echo "== errors" >&2
try() { "$MBGRAD" export "$@"; echo "status $?" >&2; }
try loop --out loop-again.urdf
try leg --out leg-again.urdf
try arm
try arm --out arm.txt
try arm --into absent.urdf --out arm-again.urdf
try arm --into arm/model.json --out arm-again.urdf
try cantilever --out beam.xml
try simple-pendulum --out point.xml
try slider-crank --out crank.xml
"$MBGRAD" import walker.xml >/dev/null 2>&1
try walker --into walker.xml --out heavy.xml 2>&1 | grep -v "the mass is zero" >&2
ls
