# parameters of the noisy pendulum from its data: report, JSON, plots, the fitted model; values to the digits that are known.
# Rounding decides in which iteration the cost ceases to change, and with it the last digits of the bias of the step.
"$MBGRAD" identify noisy-pendulum | sed -E 's/([0-9]\.[0-9]{4})[0-9]+/\1/g; s/within 0\.00[0-9]+ % .d, 0\.000[0-9]+ /within 0.00 % (d, 0.000 /; s/after [0-9]+ iterations/after n iterations/; s/ *-?[0-9.]+e-0[0-9]/  small/g; s/\([0-9]+ simulations/(n simulations/'
"$MBGRAD" identify noisy-pendulum --json --output plots --write fitted.json >fit.json
ls plots
grep -c '<svg' plots/fit-swing-fit_x.svg
python3 - <<'PY'
import json
fit, old, new = json.load(open("fit.json")), json.load(open(__import__("os").environ["SRC"] + "/gallery/noisy-pendulum/model.json")), json.load(open("fitted.json"))
print(sorted(fit))
print(sorted(fit["parameters"]["L"]), sorted(fit["channels"][0]), sorted(fit["starts"][0]))
assert fit["converged"] and fit["sigma_known"] and abs(fit["parameters"]["L"]["value"] - 0.8) < 3*fit["parameters"]["L"]["standard_error"]
for name in fit["parameters"]:
    assert new["parameters"][name]["value"] == fit["parameters"][name]["value"]
    old["parameters"][name]["value"] = new["parameters"][name]["value"]
print("only the values differ:", old == new)
PY
