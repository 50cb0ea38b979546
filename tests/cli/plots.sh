# plots: units, panels, x over y, runs beside, extreme data, colours, endings, files of cairo
export LSAN_OPTIONS=suppressions=$SRC/tests/support/leaks.txt:print_suppressions=0
python3 - <<'END'
import json
signals = {f"s{k:02}": {"type": "expression", "value": f"{k} + sin(3*t)", "unit": "N"} for k in range(1, 19)}
signals |= {
    "phi": {"type": "coordinate", "joint": "hinge"},
    "rate": {"type": "rate", "joint": "hinge"},
    "turn": {"type": "coordinate-acceleration", "joint": "hinge"},
    "x": {"type": "position", "of": "bob", "component": "x"},
    "y": {"type": "position", "of": "bob", "component": "y"},
    "fx": {"type": "reaction", "joint": "hinge", "component": "fx"},
    "mz": {"type": "reaction", "joint": "hinge", "component": "mz"},
    "torque": {"type": "force", "force": "spring"},
    "none": {"type": "expression", "value": "t"},
    "lag": {"type": "expression", "value": "filter"},
}
model = {
    "mbgrad": 1, "name": "many", "gravity": [0, -9.81, 0], "parameters": {"k": {"value": 1, "unit": "N m/rad"}},
    "bodies": {"bob": {"motion": "planar", "mass": 1, "inertia": 0.1, "position": [1, 0, 0]}},
    "joints": {"hinge": {"type": "revolute", "between": ["ground", "bob"], "at": [0, 0, 0]}},
    "forces": {"spring": {"type": "torsion-spring-damper", "joint": "hinge", "stiffness": "k"}},
    "states": {"filter": {"rate": "phi - filter", "unit": "rad"}},
    "signals": signals, "criteria": {"last": {"terminal": "phi"}, "sum": {"integral": "phi^2"}},
    "run": {"formulation": "lie", "end": 1, "step": 0.01},
}
json.dump(model, open("many.json", "w"))
END
all=$(python3 -c 'print(",".join(f"s{k:02}" for k in range(1, 15)))')
"$MBGRAD" simulate many.json --quiet --plot colours.svg --panels "$all"
"$MBGRAD" simulate many.json --quiet --out run.csv --signals phi,rate,x,y
"$MBGRAD" simulate many.json --quiet --set k=5 --plot panels.svg --beside run.csv --panels "phi,rate;phi,torque;x:y;turn;fx;mz;filter;none;torque"
"$MBGRAD" simulate many.json --quiet --plot logs.svg --panels "none,s01;s02;s03;s04" --log y --columns 3
cat >wild.csv <<'END'
t,phi,rate,x,y,s01,s02
0,5,1,1e300,1e-300,1.0000000001,-1
0.25,5,,-1e300,2e-13,1.0000000002,nan
0.5,5,2,1e308,3e-13,1.0000000003,
0.75,5,,inf,4e-13,1.0000000002,3
1,5,3,0,-inf,1.0000000001,
END
"$MBGRAD" simulate many.json --quiet --plot wild.svg --beside wild.csv --panels "phi;rate;x;y;s01;s02"
"$MBGRAD" sweep many.json --vary k=1:3:4 --plot one.svg --out one.csv
"$MBGRAD" sweep many.json --vary k=1:3:1 --no-gradient --plot single.svg --out one.csv
"$MBGRAD" sweep five-bar --vary k1=80,120 --vary k2=90:110:3 --end 0.2 --plot two.svg --out two.csv --no-gradient
"$MBGRAD" sweep five-bar --vary k1=80:120 --vary k2=90:110 --random 3 --end 0.2 --plot sample.svg --out two.csv
python3 "$SRC/tests/cli/plots.py" colours panels logs wild one single two sample
# units in HDF5 files
"$MBGRAD" simulate many.json --quiet --out run.h5
for signal in phi rate turn x fx mz torque filter s01; do
  h5dump -a /signals/$signal/unit run.h5 | sed -n "s/.*(0): /$signal /p"
done
h5dump -H -d /signals/none run.h5 | grep -c unit
echo "PNG and PDF: the same picture is the same file; other names"
for end in png pdf; do
  "$MBGRAD" simulate many.json --quiet --plot one.$end --panels "phi,rate;x:y" 2>err
  "$MBGRAD" simulate many.json --quiet --plot two.$end --panels "phi,rate;x:y" 2>>err
  "$MBGRAD" modes five-bar --plot modes.$end 2>>err >out
  if grep -q "built without cairo" err; then # a program that draws SVG files only
    [ "$(grep -c "write --plot [a-z]*.svg" err)" = 3 ] && echo "$end: same picture, modes too"
  else
    cmp one.$end two.$end && [ -s modes.$end ] && head -c 4 one.$end | tr -d '\211' | grep -qE 'PNG|%PDF' && echo "$end: same picture, modes too"
    cat err
  fi
done
"$MBGRAD" simulate many.json --quiet --plot - --panels phi >out
head -c 4 out
echo
for names in "phi,rate;x:y" phi; do # signals are no file: the model's name is
  "$MBGRAD" simulate many.json --quiet --plot same.svg --panels "$names"
  "$MBGRAD" simulate many.json --plot "$names" >out
  cmp many.svg same.svg && echo "$names: the same picture as by --panels"
  rm many.svg same.svg
done
for arguments in "phi,rat" "phi;x --panels rate" "phi,rate;x --out many.svg" "phy" "phi.x"; do
  # shellcheck disable=SC2086
  "$MBGRAD" simulate many.json --quiet --plot $arguments
  echo "status $?"
done
for command in "modes five-bar --plot" "linearize five-bar --bode" "sweep many.json --vary k=1:2:2 --plot" "check many.json --gradient --plot"; do
  # shellcheck disable=SC2086
  "$MBGRAD" $command x.gif >out
  echo "status $?"
done
ls | grep -v "png$\|pdf$"
