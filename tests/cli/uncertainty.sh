# scatter of criteria: by second derivatives, beside samples, within limits
echo "== figures of theory 9, section 7: .7576 +- .1779 by first order, .8500 +- .2175 and skewness 1.97 by second"
"$MBGRAD" uncertainty quarter-car --criteria psi0 --spread 5% --spread p4=1% --step 0.005
echo "== limits, samples; the same for any number of processes"
"$MBGRAD" uncertainty quarter-car --criteria psiL,F_path --spread p3=5% --uniform p3 --limit psiL=10:20 --samples 40 --step 0.02 --out one.csv >one
"$MBGRAD" uncertainty quarter-car --criteria psiL,F_path --spread p3=5% --uniform p3 --limit psiL=10:20 --samples 40 --step 0.02 --out two.csv --jobs 2 >two
cmp one two && cmp one.csv two.csv && cat one
head -1 one.csv; wc -l <one.csv
echo "== a covariance matrix is correlations and deviations"
printf 'k1,m2\n25,1.25\n1.25,0.25\n' >covariance.csv
"$MBGRAD" uncertainty five-bar --step 0.02 --covariance covariance.csv --json >a.json
"$MBGRAD" uncertainty five-bar --step 0.02 --spread k1=5 --spread m2=0.5 --correlation k1,m2=0.5 --json >b.json
cmp a.json b.json && grep -c second_order a.json
echo "== the scatter of a model file"
python3 - "$SRC/gallery/five-bar/model.json" <<'END' >model.json
import json, sys
model = json.load(open(sys.argv[1]))
for name, kind in ("k1", "normal"), ("m2", "uniform"):
    value = model["parameters"][name]
    value = value if isinstance(value, dict) else {"value": value}
    model["parameters"][name] = {**value, "deviation": 0.1 * value["value"], "distribution": kind}
json.dump(model, sys.stdout)
END
"$MBGRAD" uncertainty model.json --step 0.02
