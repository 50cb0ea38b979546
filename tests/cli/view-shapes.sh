# shapes of bodies and markers: meshes that are missing or damaged, numbers that are none at other parameters
cp -r "$SRC"/tests/web/shapes .
"$MBGRAD" view shapes --out page.html | sed "s#[0-9]* kB#SIZE kB#"
"$MBGRAD" view shapes --glb motion.glb && head -c 4 motion.glb && echo
"$MBGRAD" gradient shapes --end 0.1 --json >before.json
grep -q nut before.json || echo "no mesh in results"
"$MBGRAD" view shapes --set l=-0.1 --out page.html
echo "status $?"
printf 'v 0 0 0\nf 1 2 3\n' >shapes/nut.obj
"$MBGRAD" view shapes --out page.html
echo "status $?"
rm shapes/nut.obj
"$MBGRAD" view shapes --glb motion.glb
echo "status $?"
"$MBGRAD" gradient shapes --end 0.1 --json >after.json
grep -v '"time\|"seconds' before.json >a; grep -v '"time\|"seconds' after.json >b
cmp a b && echo "the motion does not depend on it"
