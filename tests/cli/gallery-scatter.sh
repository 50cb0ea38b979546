# scatter in the gallery, by the commands and figures of its pages
echo "== five-bar: tolerances"
"$MBGRAD" uncertainty five-bar --spread 1% --limit psi=0.6:0.85 | tail -n +12
echo "== quarter-car-robust: comfort plus three deviations, against the design without scatter"
"$MBGRAD" optimize quarter-car-robust --json >robust.json
"$MBGRAD" uncertainty quarter-car-robust --criteria comfort --set k=26968.16 --set c=2647.038 --json >there.json
"$MBGRAD" uncertainty quarter-car-robust --criteria comfort --set k=40113.24 --set c=2120.846 --json >plain.json
python3 -c '
import json
read = lambda name: json.load(open(name + ".json"))
r, there, plain = read("robust"), read("there")["criteria"]["comfort"], read("plain")["criteria"]["comfort"]
print(r["status"], "%.5f" % r["objective"], *("%.5g" % r["parameters"][p]["value"] for p in "kc"))
for c in there, plain:
    print(*("%.5f" % x for x in (c["value"], c["first_order"]["deviation"], c["value"] + 3 * c["first_order"]["deviation"])),
          *("%.3f" % c["second_order"][x] for x in ("mean", "deviation")))'
echo "== engine-mount: frequencies"
"$MBGRAD" uncertainty engine-mount --modes 6 --spread 10% --json >modes.json
python3 -c '
import json
for name, c in json.load(open("modes.json"))["criteria"].items():
    s = c["second_order"]
    shares = ("%s %.0f %%" % (p, 100 * x) for p, x in list(c["shares"].items())[:2])
    print(name, "%.6g" % c["value"], "%.6g" % s["mean"], "%.5f" % s["deviation"], *shares)'
