# Every example of the manual works: models pass the check without warnings and fit the schema, runs and gradients finish,
# expressions have the values that their table says, and wrong ones give its messages. Long: not under sanitizers.
/usr/bin/python3 - <<'PY'
import json, math, os, runpy, subprocess
import jsonschema

src, program = os.environ["SRC"], os.environ["MBGRAD"]
docs = runpy.run_path(src + "/tests/cli/docs-models.py")
schema = json.load(open(src + "/docs/model.schema.json"))
fits = jsonschema.validators.validator_for(schema)(schema)


def run(*words):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def try_model(label, command, path, silent):
    status, _, messages = run(command, path)
    if status != 0 or (silent and messages):
        print("%s: mbgrad %s: status %d" % (label, command, status))
        print(messages, end="")


counts = {"models": 0, "pieces": 0, "runs": 0, "gradients": 0, "expressions": 0, "errors": 0}
for label, path, model, whole in docs["examples"](src, "."):
    counts["models" if whole else "pieces"] += 1
    try_model(label, "check", path, label.startswith("docs/model.md"))
    for error in fits.iter_errors(model):
        print(label, list(error.absolute_path), error.message)
    if whole and "end" in model.get("run", {}):
        gradient = "criteria" in model and "parameters" in model
        counts["gradients" if gradient else "runs"] += 1
        try_model(label, "gradient" if gradient else "simulate", path, False)

page = src + "/docs/expressions.md"
names = json.load(open("expressions.md/names.json"))


def model_of(expressions):
    model = dict(names, signals={"y%d" % i: {"type": "expression", "value": e} for i, e in enumerate(expressions)})
    json.dump(model, open("expressions.json", "w"))
    return run("check", "expressions.json", "--json")


table = list(docs["rows"](page, "expression"))
status, out, messages = model_of([row[0] for row in table])
print(messages, end="")
for i, (text, value, *_) in enumerate(table):
    counts["expressions"] += 1
    got = json.loads(out)["signals"]["y%d" % i]["value"] if status == 0 else math.nan
    if not math.isclose(got, float(value), rel_tol=1e-5, abs_tol=1e-12):
        print("expressions.md: %s is %.15g, not %s" % (text, got, value))
for text, message in docs["rows"](page, "wrong"):
    counts["errors"] += 1
    status, out, messages = model_of([text])
    if status != 2 or message not in messages:
        print("expressions.md: %s: status %d: %s" % (text, status, messages))
print(", ".join("%d %s" % (n, what) for what, n in counts.items()))
PY
