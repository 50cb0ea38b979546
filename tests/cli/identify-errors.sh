# what identify refuses, and what it says
run() { echo "+ identify $*" >&2; "$MBGRAD" identify "$@" >out; echo "status $?"; }
cat >model.json <<'JSON'
{
  "mbgrad": 1,
  "parameters": { "F": 1 },
  "bodies": { "b": { "motion": "planar-point", "mass": 2 } },
  "forces": { "push": { "type": "force", "on": "b", "force": ["F", 0, 0] } },
  "signals": { "x": { "type": "position", "of": "b", "component": "x" } },
  "criteria": { "fit": { "least_squares": "x", "data": "x.csv" } },
  "run": { "end": 1, "step": 0.1 }
}
JSON
run model.json
printf 'time,x\n0,0\n0.5,0.1\n0.5,0.2\n' >x.csv
run model.json
printf 'time,x\n0,0\n0.5,\n1,\n' >x.csv
run model.json
printf 'time,x\n0,0\n0.5,0.19 m\n' >x.csv
run model.json
printf 'time,x\n2,0\n3,1\n' >x.csv
run model.json
# warnings: gaps, samples outside, units; the rest is fitted
printf 'time,x\n0,0\n0.2,30\n0.4,\n0.6,270\n0.8,480\n1,750\n1.2,9\n' >x.csv
run model.json --no-error-estimate
sed -n '/^channels/,$p' out
run model.json --starts 3
run model.json --homotopy 2 --optimizer gn
run model.json --resume
run model.json --restart no/such/folder
run model.json --run first
run model.json --iterations 0
run model.json --fit-tolerance small
run model.json --output x.csv/plots
run quarter-car
run ringing-mass --iterations 2 --no-error-estimate
