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
