# a folder of records after accidents: each is named with its remedy, the table is the same, or there is none
sweep() { "$MBGRAD" sweep five-bar --vary L01=2:2.5:5 --vary k1=80,120 --end 0.1 "$@"; }
named() { sed -E 's/[a-z0-9A-Z_]+-[0-9]+-[0-9]+\.records/FILE/g' >&2; }
merged() { "$MBGRAD" merge r 2>&1 >merged.csv | named; }
fresh() { rm -rf r && cp -r base r && file=$(ls r/*.records); }
same() { cmp "$1" whole.csv && echo "$2"; }
sweep --records base --out whole.csv
# a plan that was changed would give another table
for change in 's/"points": 10/"points": 5/' 's/"L01"/"L02"/' 's/"identity": ".../"identity": "000/' 's/"kind": "sweep"/"kind": "other"/'; do
  fresh
  sed -i "$change" r/plan.json
  "$MBGRAD" merge r
  echo "status $?"
  sweep --records r --resume
done
rm r/plan.json
"$MBGRAD" merge r
sweep --records r --resume >resumed.csv && merged && same resumed.csv "the plan is written again" && same merged.csv "merged"
fresh
echo '{' >r/plan.json
"$MBGRAD" merge r
sed 's/"points": 10/"points": 9.5/' base/plan.json >r/plan.json
"$MBGRAD" merge r
python3 -c 'import json, sys
plan = json.load(open("base/plan.json"))
del plan["sum"]
json.dump(plan, open("r/plan.json", "w"))'
merged && same merged.csv "a plan without sum, of an older program"
mkdir mine && echo '{ "my": "plan" }' >mine/plan.json
sweep --records mine
cat mine/plan.json
# folders, pipes and links that have names of records
fresh
mkdir r/folder.records
ln -s loop.records r/loop.records
ln -s nothing r/nothing.records
mkfifo r/pipe.records
merged && same merged.csv "no files"
# text conversion, noise, zeros
fresh
sed -i 's/$/\r/' "$file"
merged
printf 'noise' >r/noise.records
: >r/begun.records
head -c 10 "base/$(basename "$file")" >r/begun-too.records
sweep --records r --resume 2>&1 >resumed.csv | named
same resumed.csv "resumed"
fresh
head -c 5000 /dev/zero >>"$file"
merged && same merged.csv "zeros after the last line"
# files that were put together
fresh
cat "$file" "$file" >all && mv all "$file"
merged && same merged.csv "put together"
# what is no folder of records
"$MBGRAD" merge whole.csv
"$MBGRAD" merge nowhere
"$MBGRAD" merge ''
sweep --records whole.csv
sweep --records ''
"$MBGRAD" merge base --out no/such.csv
echo "status $?"
"$MBGRAD" merge base --out r
# points that fail are told by each part and by the merging
cat >model.json <<'JSON'
{ "mbgrad": 1, "parameters": { "k": 1 },
  "bodies": { "b": { "motion": "planar-point", "mass": 1, "position": [1, 0, 0] } },
  "forces": { "s": { "type": "spring-damper", "between": ["ground", "b"], "along": "x", "stiffness": "log(k)" } },
  "signals": { "y": { "type": "position", "of": "b", "component": "x" } },
  "criteria": { "end": { "terminal": "y" } }, "run": { "end": 1, "step": 0.5 } }
JSON
for i in 1 2; do "$MBGRAD" sweep model.json --vary k=-1,2 --records failing --shard $i/2; done
"$MBGRAD" merge failing | grep -c failed
