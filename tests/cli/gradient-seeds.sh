# weights of signals instead of criteria
printf 't,x2,y2\n0.1,1,0\n0.2,,-2\n' >seeds.csv
"$MBGRAD" gradient five-bar --end 0.2 --step 0.01 --seeds seeds.csv
echo "== by changes of the start"
"$MBGRAD" gradient five-bar --end 0.2 --step 0.01 --seeds seeds.csv --start-gradient | sed -n '/^changes/,$p'
echo "== between two nodes a signal is linear: half of each"
printf 't,x2\n0.105,2\n' >between.csv
printf 't,x2\n0.1,1\n0.11,1\n' >both.csv
for f in between both; do
  "$MBGRAD" gradient five-bar --end 0.2 --step 0.01 --seeds $f.csv >$f.out
done
cmp between.out both.out && echo same
echo "== JSON: the gradient of a terminal signal is that of its criterion"
printf 't,x2\n0.2,1\n' >end.csv
"$MBGRAD" gradient five-bar --end 0.2 --step 0.01 --seeds end.csv --all --start-gradient --json >seeds.json
"$MBGRAD" gradient five-bar --end 0.2 --step 0.01 --history history.csv --signals x2 >table
python3 - <<'END'
import csv, json
d = json.load(open("seeds.json"))
last = list(csv.DictReader(open("history.csv")))[-1]
print(max(abs(d["gradient"][p] - float(last["x2:" + p])) for p in d["gradient"]) < 1e-12)
print(d["sum"] == float(last["x2"]) or abs(d["sum"] - float(last["x2"])) < 1e-14)
print(len(d["start"]), list(d["start"])[:7], len(d["all"]) > 50)
END
echo "== errors" >&2
printf 't,x9\n0.1,1\n' >unknown.csv
"$MBGRAD" gradient five-bar --end 0.2 --seeds unknown.csv
printf 't,x2\n0.3,1\n' >late.csv
"$MBGRAD" gradient five-bar --end 0.2 --seeds late.csv
printf 'x2,y2\n1,1\n' >untimed.csv
"$MBGRAD" gradient five-bar --end 0.2 --seeds untimed.csv
"$MBGRAD" gradient five-bar --end 0.2 --seeds end.csv --method direct
"$MBGRAD" gradient five-bar --end 0.2 --start-gradient
