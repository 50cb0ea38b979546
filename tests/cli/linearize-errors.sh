# what linearize refuses
try() { "$MBGRAD" linearize "$@"; echo "status $?"; }
try five-bar --at rest
try five-bar --inputs mass
try five-bar --outputs x9
try five-bar --coordinates A,1,B
try five-bar --coordinates A,A
try five-bar --coordinates crank
try five-bar --by k9
try five-bar --locus k1=1:2
try five-bar --locus k1 --plot x.svg
try five-bar --locus k9=1:2 --plot x.svg
try five-bar --locus k1=2:1 --plot x.svg
try five-bar --plot x.svg
try five-bar --bode x.svg --inputs k1 --frequencies 3
try five-bar --bode x.svg
try five-bar --out x.txt
try five-bar --at -1
try overhead-crane
try rotating-beam --at steady
# a derivative beyond the largest number: d(k/m)/dm = k/m^2
cat >stiff.json <<'END'
{
  "mbgrad": 1,
  "parameters": { "m": 1e-5 },
  "bodies": { "b": { "motion": "point", "mass": "m", "position": [0.5, 0, 0] } },
  "joints": { "rail": { "type": "point-on-line", "between": ["ground", "b"], "at": [0, 0, 0], "axis": [1, 0, 0] } },
  "signals": { "x": { "type": "position", "of": "b", "component": "x" } },
  "forces": { "f": { "type": "force", "on": "b", "force": ["-1e300*x", 0, 0] } },
  "criteria": { "e": { "terminal": "x" } },
  "run": { "end": 1, "step": 0.01 }
}
END
try stiff.json --at start --gradient
try five-bar --bode x.svg --inputs k1 --frequencies 1e-320:1e308
# nothing is written when something is refused
try five-bar --out x.csv --bode x.svg | grep status
ls | grep '^x' || echo "no file"
