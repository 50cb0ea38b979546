# gradients of runs from the state of another one, against differences of the same runs: by stiffnesses, and by lengths,
# which move the constraints, so that the start is the nearest state on them
cat >differences.py <<'END'
import json, sys
files = [json.load(open(f"{k}.json"))["criteria"] for k in ("at", "up", "down")]
name, step = sys.argv[1], float(sys.argv[2])
for key in files[0]:
    at, up, down = (f[key] for f in files)
    g, d = at["gradient"][name], (up["value"] - down["value"]) / (2 * step)
    if not abs(g - d) <= 1e-5 * abs(g) + 1e-9 * abs(at["value"] / step):
        print(key, "by", name, g, "differences", d)
print(name, len(files[0]), "criteria")
END
check() { # model formulation parameter value step
  options="$1 --formulation $2 --step 2e-3 --json --no-error-estimate --end 0.3 --restart half.json"
  "$MBGRAD" gradient $options >at.json
  "$MBGRAD" gradient $options --set "$3=$(python3 -c "print($4 + $5)")" >up.json
  "$MBGRAD" gradient $options --set "$3=$(python3 -c "print($4 - $5)")" >down.json
  python3 differences.py "$3" "$5"
}
for formulation in lie dae ali3p dca qr; do
  echo "== $formulation"
  "$MBGRAD" simulate quarter-car --formulation $formulation --step 2e-3 --end 0.2 --state half.json --quiet
  check quarter-car $formulation p1 44000 4
  check quarter-car $formulation p4 0.6 1e-4
  "$MBGRAD" simulate five-bar --formulation $formulation --step 2e-3 --end 0.2 --state half.json --quiet
  check five-bar $formulation L01 2.23606797749979 1e-4
done 2>notes
grep -av '^note: rho_inf' notes
echo "== with an estimate of the error"
"$MBGRAD" gradient five-bar --end 0.3 --step 2e-3 --restart half.json | grep -c 'error of the steps'
