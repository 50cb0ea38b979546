# stopped and resumed: the same end, to the last bit; an ended search is read back without a simulation
"$MBGRAD" optimize quarter-car-design --json >whole.json
"$MBGRAD" optimize quarter-car-design --json --iterations 4 --restart r >part.json
echo "status $?"
"$MBGRAD" optimize quarter-car-design --json --restart r --resume >resumed.json
echo "status $?"
"$MBGRAD" optimize quarter-car-design --json --restart r --resume >again.json
head -n 1 r | sed 's/[0-9a-f]\{16\}$/HASH/'
python3 - <<'PY'
import json
whole, part, resumed, again = (json.load(open(name + ".json")) for name in ("whole", "part", "resumed", "again"))
print("replayed:", part["replayed"] == 0, 0 < resumed["replayed"] < again["replayed"], "computed again:", again["rows"])
for r in (whole, part, resumed, again):
    for key in ("replayed", "rows", "direct", "adjoint", "seconds"):
        r.pop(key)
print("the part differs:", part["parameters"] != whole["parameters"], "- the end is the same:", resumed == whole, again == whole)
PY
# a last line that was cut off is computed again
head -c -7 r >torn
"$MBGRAD" optimize quarter-car-design --quiet --restart torn --resume
echo "status $?"
cmp r torn && echo "the record is whole again"
# a file that is not there yet is begun
"$MBGRAD" optimize quarter-car-design --quiet --restart new --resume && cmp r new && echo "begun"
# damaged, of another problem, not writable
sed '3s/4/5/' r >damaged
"$MBGRAD" optimize quarter-car-design --quiet --restart damaged --resume
echo "status $?"
"$MBGRAD" optimize spring-balanced-arm --quiet --restart r --resume
echo "status $?"
"$MBGRAD" optimize quarter-car-design --set c=3000 --quiet --restart r --resume
echo "status $?"
"$MBGRAD" optimize quarter-car-design --quiet --restart no/such/folder
echo "status $?"
"$MBGRAD" optimize quarter-car-design --quiet --restart /dev/full
echo "status $?"
"$MBGRAD" optimize quarter-car-design --quiet --resume
