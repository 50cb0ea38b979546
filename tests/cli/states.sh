# States: lists, refusals of starts, restarted runs, checkpoints.
model=$SRC/tests/reference/states/cylinder.json
"$MBGRAD" check "$model" | sed -n '/degrees/,/constraints/p; /^signals/,/^criteria/p'

# a run in two pieces ends where the whole one ends; the adjoint under a memory limit is the same
"$MBGRAD" simulate "$model" --end 0.02 --state half.json >/dev/null
"$MBGRAD" simulate "$model" --restart half.json --end 0.04 --json >two.json
"$MBGRAD" simulate "$model" --end 0.04 --json >one.json
"$MBGRAD" gradient "$model" --end 0.04 --method adjoint --json >free.json
"$MBGRAD" gradient "$model" --end 0.04 --method adjoint --memory 20000 --json >limited.json
/usr/bin/python3 - <<'PY'
import json
one, two = (json.load(open(f))["signals"] for f in ("one.json", "two.json"))
print("restart:", all(abs(one[k][-1] - two[k][-1]) <= 1e-12 * abs(one[k][-1]) for k in ("pA", "pB", "xv", "X")))
free, limited = (json.load(open(f))["criteria"] for f in ("free.json", "limited.json"))
print("memory:", all(free[c]["gradient"] == limited[c]["gradient"] for c in free))
PY

change() {
  /usr/bin/python3 - "$SRC/tests/reference/states/crane.json" "$@" <<'PY'
import json, sys
m = json.load(open(sys.argv[1]))
exec(sys.argv[2])
json.dump(m, open("m.json", "w"))
PY
}
change 'm["states"]["xi"]["initial"] = "steady"'
"$MBGRAD" check m.json >out || cat out
change 'm["states"]["xf"]["rate"] = "1 + xf^2"; m["states"]["xf"]["guess"] = 0.3'
"$MBGRAD" check m.json >out || cat out
change 'm["states"]["xi"]["rate"] = "1/(xi - xi)"'
"$MBGRAD" simulate m.json >out || cat out
change 'm["initial"] = {"start": "equilibrium"}; m["states"]["F"]["initial"] = "steady"; m["states"]["xi"]["initial"] = "steady"'
"$MBGRAD" check m.json >out || cat out
change 'm["initial"] = {"start": "equilibrium"}; m["states"]["xi"] = {"rate": "1 + F^2 + xi^2", "initial": "steady"}'
"$MBGRAD" check m.json >out || cat out
"$MBGRAD" modes "$model" --at steady >out || cat out
"$MBGRAD" modes "$model" --undamped >out || cat out
"$MBGRAD" linearize "$model" --at steady >out || cat out
"$MBGRAD" modes "$SRC/tests/reference/states/crane-loop.json"
# states that nothing feeds back
"$MBGRAD" modes "$SRC/tests/reference/states/crane.json" --json >modes.json
/usr/bin/python3 -c 'import json; print([(m["kind"], m.get("state")) for m in json.load(open("modes.json"))["modes"][:3]])'
true
