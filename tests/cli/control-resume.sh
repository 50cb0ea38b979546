# a search that was stopped and resumed ends where the uninterrupted one does, bit for bit, in every stage and optimizer
compare() { # A B: the same numbers, times apart
  python3 - "$1" "$2" <<'END'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
for r in (a, b):
    r.pop("seconds")
    r["work"] = {k: v for k, v in r["work"].items() if "seconds" not in k}
print("the same:", a == b, "" if a == b else [k for k in a if a[k] != b.get(k)])
END
}
for how in "--stages 1" "--stages 3" "--stages 1 --optimizer cg" "--stages 1 --optimizer ipopt" "--stages 2 --optimizer steepest"; do
  options="--samples 21 --effort 1e-7 --gradient-tolerance 1e-4 --iterations 30 --step 0.02 $how"
  rm -f r r~
  "$MBGRAD" control overhead-crane $options --json >whole.json 2>whole.err
  "$MBGRAD" control overhead-crane $options --json --restart r >recorded.json 2>recorded.err
  compare whole.json recorded.json
  for part in 9 3 6; do # cut off in the middle of a line, after some of them, near the end
    python3 -c '
import sys
text = open("r", "rb").read()
open("r", "wb").write(text[:len(text) * int(sys.argv[1]) // 10])' $part
    "$MBGRAD" control overhead-crane $options --json --restart r --resume >resumed.json 2>resumed.err
    compare whole.json resumed.json
    cmp whole.err resumed.err
  done
done
echo "more iterations go on where the fewer ended"
options="--samples 21 --effort 1e-7 --gradient-tolerance 1e-6 --step 0.02 --stages 1 --json"
rm -f r r~
"$MBGRAD" control overhead-crane $options --iterations 60 >whole.json
"$MBGRAD" control overhead-crane $options --iterations 7 --restart r >/dev/null
"$MBGRAD" control overhead-crane $options --iterations 60 --restart r --resume >resumed.json
compare whole.json resumed.json
ls r*
echo "other options begin with the best control, and are resumed as well; the older record is kept"
options="--samples 41 --effort 1e-8 --gradient-tolerance 1e-6 --step 0.02 --stages 1 --json"
cp r first
"$MBGRAD" control overhead-crane $options --iterations 20 --restart r --resume >whole.json
cmp first r~
python3 -c '
text = open("r", "rb").read()
open("r", "wb").write(text[:len(text) // 2])'
"$MBGRAD" control overhead-crane $options --iterations 20 --restart r --resume >resumed.json
compare whole.json resumed.json
python3 -c '
import json
a, b = json.load(open("resumed.json")), json.load(open("whole.json"))
print(a["objective_start"] < 1e-2 * json.load(open("recorded.json"))["objective_start"])'
echo "restart files of the first version are read, and kept"
python3 - <<'END'
import json
r = json.load(open("whole.json"))["controls"]["u"]
json.dump({"mbgrad_control": 1, "stage": 0, "gradient_start": 1, "controls": {"u": {k: r[k] for k in ("times", "values")}}},
          open("old", "w"))
END
"$MBGRAD" control overhead-crane $options --iterations 1 --restart old --resume --quiet >/dev/null
head -c 17 old
echo
head -c 19 old~
echo
"$MBGRAD" control overhead-crane $options --iterations 1 --restart old~ --quiet >/dev/null
head -c 17 old~
echo
echo "damaged"
sed -i '4s/e 0 ./e 0 x/' r
"$MBGRAD" control overhead-crane $options --restart r --resume
