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
# a steady motion: eigenvalues are roots of the characteristic polynomial in the turning frame, and so for other gains
"$MBGRAD" modes "$SRC/tests/reference/states/carousel.json" --at steady --gradient --json >steady.json
"$MBGRAD" linearize "$SRC/tests/reference/states/carousel.json" --at steady --by kf --json >linear.json
/usr/bin/python3 - <<'PY'
import json
k, c, kf, T, m, w = 400, 3, 60, 0.2, 2, 8
p = lambda s, kf=kf: (s * s + c / m * s - (w * w - k / m)) * (s + 1 / T) + kf / (m * T)
d = json.load(open("steady.json"))
roots = [complex(*v) if isinstance(v, list) else complex(v["re"], v["im"]) for v in (x["eigenvalue"] for x in d["modes"])]
print("steady:", len(roots), all(abs(p(s)) < 1e-9 * abs(s) ** 3 for s in roots))
A = json.load(open("linear.json"))["A"]
print("A:", [[round(x, 9) for x in row] for row in A])
PY
# derivatives of eigenvalues by differences, about a steady motion, and about an equilibrium with reactions in rates;
# eigenvalues are the poles of the linear model
for at in "carousel steady" "resting equilibrium"; do
  set -- $at
  /usr/bin/python3 - "$SRC/tests/reference/states/$1.json" $2 <<'PY'
import json, os, subprocess, sys
model, at = json.load(open(sys.argv[1])), sys.argv[2]
def modes(m):
    json.dump(m, open("m.json", "w"))
    out = subprocess.run([os.environ["MBGRAD"], "modes", "m.json", "--at", at, "--gradient", "--json"], stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)["modes"]
def near(list_, s): return min((complex(*x["eigenvalue"]) for x in list_), key=lambda z: abs(z - s))
found = modes(model)
poles = json.loads(subprocess.run([os.environ["MBGRAD"], "linearize", "m.json", "--at", at, "--json"], stdout=subprocess.PIPE).stdout)["poles"]
poles = [complex(p["re"], p["im"]) if isinstance(p, dict) else complex(*p) for p in poles]
off = max(min(abs(complex(*x["eigenvalue"]) - p) for p in poles) / abs(complex(*x["eigenvalue"])) for x in found)
print(at, "poles:", len(poles), off < 1e-12)
worst = 0
for name, value in model["parameters"].items():
    h = 1e-5 * value
    up, down = (modes({**model, "parameters": {**model["parameters"], name: value + d}}) for d in (h, -h))
    for x in found:
        s = complex(*x["eigenvalue"])
        slope = (near(up, s) - near(down, s)) / (2 * h)
        worst = max(worst, abs(slope - complex(x["re_gradient"][name], x["im_gradient"][name])) * value / abs(s))
print(at, "derivatives:", worst < 1e-7)
PY
done
# a steady value that is unstable, rates that use accelerations
change 'm["states"]["xf"]["rate"] = "(xf - e)/Tf"'
"$MBGRAD" check m.json >out || cat out
"$MBGRAD" modes "$SRC/tests/reference/states/friction.json" >out || cat out
"$MBGRAD" gradient "$SRC/tests/reference/states/friction.json" --end 0.02 --method continuous >out || cat out
sed 's/"formulation": "lie"/"formulation": "lie", "index": 2/' "$SRC/tests/reference/states/friction.json" >m.json
"$MBGRAD" simulate m.json >out || cat out
# ... in `ali3p`, by reactions and by accelerations alone: direct and adjoint, a memory limit, a restart
cp "$SRC/tests/reference/states/friction.json" late0.json
sed 's/load - N/ax^2 - N/; s/Rx^2 + Ry^2/1/' late0.json >late1.json
for i in 0 1; do
  late() { "$MBGRAD" "$1" late$i.json --formulation ali3p --json "${@:2}"; }
  late gradient --end 0.2 --method direct >direct.json
  late gradient --end 0.2 --method adjoint >free.json
  late gradient --end 0.2 --method adjoint --memory 20000 >limited.json
  late simulate --end 0.2 --signals N,a,e,b >one.json
  late simulate --end 0.1 --state half.json >/dev/null
  late simulate --restart half.json --end 0.2 --signals N,a,e,b >two.json
  /usr/bin/python3 - <<'PY'
import json
direct, free, limited = (json.load(open(f))["criteria"] for f in ("direct.json", "free.json", "limited.json"))
one, two = (json.load(open(f))["signals"] for f in ("one.json", "two.json"))
near = lambda x, y, size: abs(x - y) <= 1e-10 * size
for c in free:
    d, a = direct[c]["gradient"], free[c]["gradient"]
    assert all(near(d[p], a[p], max(map(abs, d.values()))) for p in d), c
print("late rates, ali3p: memory:", all(free[c]["gradient"] == limited[c]["gradient"] for c in free),
      "restart:", all(near(one[k][-1], two[k][-1], 1) for k in "Naeb"))
PY
done
"$MBGRAD" simulate late0.json --formulation ali3p --set tau=1e-4 2>&1 | sed -n 's/.*mbgrad: error: .*); //p'
change 'm["initial"] = {"start": "equilibrium"}; m["states"]["xi"]["initial"] = "2*X"'
"$MBGRAD" check m.json >out || cat out
"$MBGRAD" linearize "$SRC/tests/reference/states/friction.json" --at start --json >linear.json && echo "linear model at the start"
# states that nothing feeds back
"$MBGRAD" modes "$SRC/tests/reference/states/crane.json" --json >modes.json
/usr/bin/python3 -c 'import json; print([(m["kind"], m.get("state")) for m in json.load(open("modes.json"))["modes"][:3]])'
true
