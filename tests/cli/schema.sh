# every model of the gallery, and of the tests of parts, fits the schema; a misspelt key does not
/usr/bin/python3 - <<'PY'
import glob, json, os
import jsonschema
src = os.environ["SRC"]
schema = json.load(open(src + "/docs/model.schema.json"))
validator = jsonschema.validators.validator_for(schema)
validator.check_schema(schema)
check = validator(schema)
files = sorted(glob.glob(src + "/gallery/*/*.json"))
for path in files:
    model = json.load(open(path))
    for error in check.iter_errors(model):
        print(path, list(error.absolute_path), error.message)
model["bodys"] = {}
print("all fit" if len(files) >= 18 else "too few files", "- a misspelt key is refused:", not check.is_valid(model))
PY
