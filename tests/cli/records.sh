# results as records of a folder: parts, merging, resuming; damaged, duplicate, missing and foreign records are named
sweep() { "$MBGRAD" sweep five-bar --vary L01=2:2.5:5 --vary k1=80,120 --end 0.1 "$@"; }
named() { sed -E 's/[a-z0-9A-Z_]+-[0-9]+-[0-9]+\.records/FILE/g' >&2; }
sweep --out whole.csv
for i in 1 2 3; do sweep --records all --shard $i/3; done
"$MBGRAD" merge all | cmp - whole.csv && echo "three parts are the whole"
sweep --records all --resume --jobs 2 | cmp - whole.csv && echo "resumed: nothing to do"
sweep --records one --jobs 2 --out one.csv && cmp one.csv whole.csv && "$MBGRAD" merge one --status | head -n 2
sweep --records one
echo "status $?"
# points that are missing
mkdir part && cp all/plan.json part && cp "$(ls all/*.records | head -n 1)" part
"$MBGRAD" merge part
echo "status $?"
"$MBGRAD" merge part --partial | grep -c "not run"
# a record that was cut off does not count; one that was changed is named
file=$(ls part/*.records)
cp "$file" kept
head -c -20 kept >"$file"
"$MBGRAD" merge part --partial 2>cut.err | grep -c "not run"
sed '3s/ 4/ 5/' kept >"$file"
"$MBGRAD" merge part --partial 2>&1 >damaged.csv | named
grep -c "not run" damaged.csv
sweep --records part --resume 2>&1 >resumed.csv | named
cmp resumed.csv whole.csv && echo "resumed after damage"
# the same records twice are one result; other numbers for one point are a contradiction
cp kept all/copy-1-0.records
"$MBGRAD" merge all --status
python3 - <<'PY'
START, PRIME = 14695981039346656037, 1099511628211
def total(data):
    h = START
    for byte in data:
        h = ((h ^ byte) * PRIME) & (2**64 - 1)
    return h
lines = open("kept").read().splitlines()
words = lines[1].split(" ")[:-1]
words[-1] = "3ff0000000000000"
text = " ".join(words)
open("all/copy-1-0.records", "w").write(f"{lines[0]}\n{text} {total(text.encode()):016x}\n")
PY
"$MBGRAD" merge all 2>&1 | named
rm all/copy-1-0.records
# files and folders of others
sed '1s/.$/x/' kept >all/copy-2-0.records
"$MBGRAD" merge all 2>&1 >foreign.csv | named
cmp foreign.csv whole.csv && echo "foreign records are left alone"
sweep --records all --resume --set k2=50 2>&1 | named
"$MBGRAD" sweep five-bar --vary L01=2:2.5:5 --end 0.1 --records all --resume
"$MBGRAD" uncertainty five-bar --spread k1=1 --samples 10 --records all
"$MBGRAD" merge .
echo '{ "mbgrad-records": 2 }' >plan.json
"$MBGRAD" merge .
"$MBGRAD" merge nowhere
echo "status $?"
# options
sweep --shard 1/2
sweep --records x --shard 3/2
sweep --records x --shard 1/2 --out x.csv
sweep --resume
# a failed simulation is a result
cat >model.json <<'JSON'
{ "mbgrad": 1, "parameters": { "k": 1 },
  "bodies": { "b": { "motion": "planar-point", "mass": 1, "position": [1, 0, 0] } },
  "forces": { "s": { "type": "spring-damper", "between": ["ground", "b"], "along": "x", "stiffness": "log(k)" } },
  "signals": { "y": { "type": "position", "of": "b", "component": "x" } },
  "criteria": { "end": { "terminal": "y" } }, "run": { "end": 1, "step": 0.5 } }
JSON
"$MBGRAD" sweep model.json --vary k=-1,2 --records failing >/dev/null
"$MBGRAD" merge failing --status | grep failed
"$MBGRAD" merge failing | cut -c1-3
# HDF5
"$MBGRAD" merge one --out one.h5 && sweep --out whole.h5 && cmp one.h5 whole.h5 && h5ls whole.h5
# samples of uncertainty
sample() { "$MBGRAD" uncertainty five-bar --spread L01=0.01 --spread k1=1 --first-order --end 0.1 --samples 10 "$@"; }
sample --out samples.csv >report
sample --records s --shard 1/2
sample --records s --shard 2/2 --jobs 2
"$MBGRAD" merge s | cmp - samples.csv && echo "samples of two parts"
sample --records s --resume | cmp - report && echo "the same report"
