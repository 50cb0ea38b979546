# wrong use is explained
try() {
  "$MBGRAD" simulate "$@" >out
  echo "$? simulate $*" >&2
  cat out
}
try quarter-car --end 0
try quarter-car --end later
try quarter-car --step 0
try quarter-car --step=-0.1
try quarter-car --step 0.001x
try quarter-car --step 0.001 --tolerance 1e-4
try quarter-car --formulation lei
try quarter-car --formulation magic
try quarter-car --formulation qr --integrator dop583
try quarter-car --formulation qr --integrator euler
try quarter-car --formulation qr --integrator rk4
try quarter-car --formulation lie --integrator dp5
try quarter-car --formulation qr --tolerance 1e-15
try quarter-car --formulation qr --tolerance 2
try quarter-car --set p5=1
try quarter-car --set p1=stiff
try quarter-car --signals a,lenght
try quarter-car --interval 0
try quarter-car --out run.txt
try quarter-car --out nowhere/run.csv
try quarter-car --out nowhere/run.h5
try quarter-car --plot nowhere/run.svg
try quarter-car --state nowhere/state.json
try quarter-car --json --out -
try quarter-car --memory lots
try quarter-car --sigals a
try rssr --step 0.5 2>&1 | sed -E 's/\(last change.*worst/(... worst/' >&2
try torsional-pendulum --quiet
try quarter-car --plot run.jpg
try quarter-car --plot run
try quarter-car --plot a.b/run
try quarter-car --plot run.svg --panels "a;lenght"
try quarter-car --plot run.svg --panels "a,z:F"
try quarter-car --plot run.svg --panels "a,,F"
try quarter-car --plot run.svg --panels "a;F" --signals a
try quarter-car --panels a
try quarter-car --plot run.svg --log z
try quarter-car --plot run.svg --columns 9
try quarter-car --plot run.svg --beside nowhere.csv
printf 'a,b\n1,2\n' >t.csv
try quarter-car --plot run.svg --beside t.csv
printf 't,b\n1,2\n' >t.csv
try quarter-car --plot run.svg --beside t.csv
printf 't,a\n1,2\n2,x\n' >t.csv
try quarter-car --plot run.svg --beside t.csv
printf 't,a\n1,2\n2\n' >t.csv
try quarter-car --plot run.svg --beside t.csv
printf 't,a\n' >t.csv
try quarter-car --plot run.svg --beside t.csv
# steps of dca in the output, not the nodes of its integrals
"$MBGRAD" simulate slider-crank --formulation dca --step 0.1 --end 0.3 --out - 2>/dev/null | cut -d, -f1
