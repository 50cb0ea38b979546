# Topics of the help: written ones, and sections of model files from the schema
for topic in formulations methods units expressions files environment; do
  echo "== $topic"
  "$MBGRAD" help $topic | head -n 2
done
"$MBGRAD" help joints | grep -e '^"joints"' -e '  revolute  ' | tr -s ' '
"$MBGRAD" help joints screw | grep -e 'type screw' -e '  pitch  '
"$MBGRAD" help criteria | grep -e '  terminal  '
"$MBGRAD" help joints revolut; echo "status $?"
"$MBGRAD" help jonts; echo "status $?"
"$MBGRAD" help units metres; echo "status $?"
"$MBGRAD" help run fast; echo "status $?"
# every section and every type of the schema is explained, every key with a text
"$MBGRAD" schema >schema.json
cmp schema.json "$SRC/docs/model.schema.json"
"$MBGRAD" completion topics | while read -r topic; do
  "$MBGRAD" help "$topic" >out || echo "no help on $topic"
  [ "$(wc -l <out)" -ge 3 ] || echo "nothing about $topic"
done
/usr/bin/python3 - <<'PY'
import json, os, subprocess
schema = json.load(open("schema.json"))
for section in ("bodies", "joints", "forces", "signals"):
    kind = schema["$defs"][{"bodies": "body"}.get(section, section[:-1])]
    for entry in kind["anyOf"]:
        type_ = entry["properties"].get("type", {}).get("const")
        if not type_:
            continue
        text = subprocess.run([os.environ["MBGRAD"], "help", section, type_], capture_output=True, text=True, check=True).stdout
        for key in entry["properties"]:
            if key not in ("type", "note") and not any(line.split()[:1] == [key] for line in text.splitlines()):
                print(section, type_, key, "is missing")
PY
exit 0
