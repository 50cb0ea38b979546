# many loops, redundant rows and pins: sparse factors prove what they can, within a limit of memory; not under sanitizers
ulimit -v 300000
counts() {
  "$MBGRAD" check "$@" | sed -n '/degrees of freedom\|constraints  \|pinned/{s/;.*//;p}'
}
"$MBGRAD" new ladder ladder --bodies 1200 --force >/dev/null
counts ladder
"$MBGRAD" simulate ladder --formulation lie --step 0.001 --end 0.001 --quiet 2>/dev/null
echo "status $?"
"$MBGRAD" simulate ladder --formulation dca --step 0.001 --end 0.001 --quiet 2>/dev/null
echo "status $?"

echo "a redundant row among 240 that are connected"
"$MBGRAD" new ladder short --bodies 90 --force >/dev/null
sed 's|"joints": {|&"again": {"type": "point-on-line", "between": ["rung3", "left3"], "at": [0, "-4*l", 0], "axis": [1, 0, 0]},|' \
  short/model.json >again.json
counts again.json
"$MBGRAD" check again.json | grep -c "redundant: "

echo "separate spatial four-bars: three redundant rows each"
{
  printf '{"mbgrad": 1, "bodies": {'
  for i in $(seq 12); do
    for b in "a$i\": {\"position\": [$i, 0, 0]" "b$i\": {\"position\": [$i, 1, 0]" "c$i\": {\"position\": [$i, 0, 0]"; do
      printf '"%s, "mass": 1, "inertia": [1, 1, 1]},' "$b"
    done
  done
  printf '"end": {"mass": 1, "inertia": [1, 1, 1]}}, "joints": {'
  for i in $(seq 12); do
    for j in "ground a$i 0 0" "a$i b$i 0 1" "b$i c$i 0.5 1.5" "c$i ground 0.5 0"; do
      set -- $j
      printf '"%s_%s": {"type": "revolute", "between": ["%s", "%s"], "at": [%s, %s, 0], "axis": [0, 0, 1]},' \
        "$1$i" "$2" "$1" "$2" "$(awk "BEGIN { print $i + $3 }")" "$4"
    done
  done
  printf '"free": {"type": "revolute", "between": ["ground", "end"], "at": [0, 0, 0], "axis": [0, 0, 1]}}}'
} >windows.json
counts windows.json

echo "a spatial ladder, whose loops share bodies: three redundant rows each, and the motion of the planar one"
/usr/bin/python3 - <<'END'
import json


def write(motion, inertia):
    bodies, joints = {}, {}
    for i in range(40):
        above = f"rung{i - 1}" if i else "ground"
        for name, at in ("left", [0, -i - 0.5, 0]), ("right", [2, -i - 0.5, 0]), ("rung", [1, -i - 1, 0]):
            bodies[f"{name}{i}"] = {"position": at, "mass": 1, "inertia": inertia, "motion": motion}
        ends = (above, f"left{i}", 0, -i), (above, f"right{i}", 2, -i)
        ends += (f"left{i}", f"rung{i}", 0, -i - 1), (f"right{i}", f"rung{i}", 2, -i - 1)
        for k, (first, second, x, y) in enumerate(ends):
            joints[f"j{i}_{k}"] = {"type": "revolute", "between": [first, second], "at": [x, y, 0], "axis": [0, 0, 1]}
    with open(f"{motion}.json", "w") as file:
        json.dump({
            "mbgrad": 1,
            "gravity": [3, -9.81, 0],
            "bodies": bodies,
            "joints": joints,
            "signals": {"x": {"type": "position", "of": "rung39", "component": "x"}},
            "run": {"end": 0.2, "step": 0.02},
        }, file)


write("spatial", [0.1, 0.1, 0.1])
write("planar", 0.1)
END
counts spatial.json
counts planar.json
for motion in spatial planar; do
  "$MBGRAD" simulate $motion.json --formulation lie --quiet --out $motion.csv
  echo "status $?"
done
paste -d , spatial.csv planar.csv | awk -F, 'NR > 1 { d = $2 - $4; d = d < 0 ? -d : d; if (!(d < 1e-8)) bad = 1; last = $4 }
  END { print NR - 1, "nodes", (last > 1.05 ? "moved" : "at rest"), (bad ? "differ" : "agree") }'

echo "1000 pinned pendulums within 10 seconds of processor time"
/usr/bin/python3 - >many.json <<'END'
import json

names = [str(i) for i in range(1000)]
print(json.dumps({
    "mbgrad": 1,
    "bodies": {"r" + n: {"mass": 1, "inertia": [1, 1, 1], "position": [int(n), 0, 0]} for n in names},
    "joints": {"h" + n: {"type": "revolute", "between": ["ground", "r" + n], "at": [int(n), 0, 0], "axis": [0, 1, 0]}
               for n in names},
    "initial": {"pin": {"p" + n: {"joint": "h" + n, "value": 0.1, "rate": 0} for n in names}},
}))
END
(ulimit -t 10 && counts many.json)

echo "70 pinned pendulums, one of them pinned twice"
pendulums() {
  printf '{"mbgrad": 1, "bodies": {'
  for i in $(seq 70); do printf '"r%s": {"mass": 1, "inertia": [1, 1, 1], "position": [%s, 0, 0]},' "$i" "$i"; done
  printf '"r71": {"mass": 1, "inertia": [1, 1, 1]}}, "joints": {'
  for i in $(seq 70); do
    printf '"h%s": {"type": "revolute", "between": ["ground", "r%s"], "at": [%s, 0, 0], "axis": [0, 1, 0]},' "$i" "$i" "$i"
  done
  printf '"h71": {"type": "revolute", "between": ["ground", "r71"], "at": [0, 0, 0], "axis": [0, 1, 0]}}, "initial": {"pin": {'
  for i in $(seq 70); do printf '"p%s": {"joint": "h%s", "value": 0.1, "rate": 0},' "$i" "$i"; done
  printf '"p71": {"joint": "%s", "value": %s}}}}' "$1" "$2"
}
pendulums h71 0.1 >pins.json
counts pins.json
pendulums h70 0.1 >pins.json
counts pins.json
pendulums h70 0.2 >pins.json
"$MBGRAD" check pins.json
