# The manual is complete: every key and every choice of the schema stands in the text or a table of model.md or elements.md as code
# and is used by an example, each type with its own keys.
/usr/bin/python3 - <<'PY'
import json, os, re, runpy

src = os.environ["SRC"]
docs = runpy.run_path(src + "/tests/cli/docs-models.py")
schema = json.load(open(src + "/docs/model.schema.json"))

# keys that many types share: one example in a section is enough
SHARED = {"between", "at", "axis", "x", "points", "axes", "in", "on", "along", "joint", "coordinate", "of", "relative_to",
          "component", "cut", "note"}
# entries of "runs" have the keys of "run" and some more
SAME = {"named_run": "run"}


def target(node):
    while "$ref" in node:
        node = schema["$defs"][node["$ref"].split("/")[-1]]
    return node


def type_of(node):
    return node.get("properties", {}).get("type", {}).get("const")


def wanted(node, place, out, seen):
    """All (place, key) and (place, key, choice) below a node of the schema."""
    if "$ref" in node:
        place = node["$ref"].split("/")[-1]
        if place in seen:
            return
        seen.add(place)
        place = SAME.get(place, place)
    node = target(node)
    for part in node.get("anyOf", []) + node.get("prefixItems", []):
        wanted(part, place, out, seen)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            wanted(node[key], place, out, seen)
    out.update((place, "", choice) for choice in node.get("enum", []))
    for key, value in node.get("properties", {}).items():
        at = place if key in SHARED or not type_of(node) else place + " " + type_of(node)
        if key != "type":
            out.add((at, key))
        if "const" in value and key == "type":
            out.add((place, key, value["const"]))
        inner = at if "$ref" in value else at + " " + key
        wanted(value, inner, out, seen)


def fits(node, data):
    """Does the alternative of the schema look like the data?"""
    node = target(node)
    if "properties" in node:
        return (isinstance(data, dict) and set(node.get("required", [])) <= set(data) and set(data) <= set(node["properties"])
                and (not type_of(node) or data.get("type", type_of(node)) == type_of(node)))
    if "enum" in node:
        return data in node["enum"]
    if "anyOf" in node:
        return any(fits(part, data) for part in node["anyOf"])
    kinds = {"array": list, "object": dict, "string": str, "number": (int, float), "integer": int, "boolean": bool}
    words = node.get("type", [])
    return any(isinstance(data, kinds[word]) for word in ([words] if isinstance(words, str) else words))


def used(node, place, data, out):
    if "$ref" in node:
        place = node["$ref"].split("/")[-1]
        place = SAME.get(place, place)
    node = target(node)
    for part in node.get("anyOf", []):
        if fits(part, data):
            used(part, place, data, out)
    if isinstance(data, list):
        for i, entry in enumerate(data):
            prefix = node.get("prefixItems", [])
            used(prefix[i] if i < len(prefix) else node.get("items", {}), place, entry, out)
    elif isinstance(data, dict):
        for key, value in data.items():
            inner = node.get("properties", {}).get(key)
            if inner is None:
                if isinstance(node.get("additionalProperties"), dict):
                    used(node["additionalProperties"], place, value, out)
                continue
            at = place if key in SHARED or not type_of(node) else place + " " + type_of(node)
            out.add((at, key))
            if key == "type":
                out.add((place, key, value))
            used(inner, at if "$ref" in inner else at + " " + key, value, out)
    elif data in node.get("enum", []):
        out.add((place, "", data))


want, have, words = set(), set(), set()
wanted(schema, "model", want, set())
docs["examples"](src, ".")
for page in docs["PAGES"]:
    for name in os.listdir(page):
        if name.endswith(".json"):
            used(schema, "model", json.load(open(page + "/" + name)), have)
for page in docs["PAGES"][:2]:
    text = open(src + "/docs/" + page, encoding="utf-8").read()
    text = re.sub(r"(?ms)^```.*?^```$", "", text)
    for span in re.findall(r"`([^`]+)`", text):
        words.update([span, *re.findall(r"[A-Za-z0-9_$-]+", span)])

missing = sorted(str(entry) for entry in want - have if entry[1] != "note")
for entry in missing:
    print("no example:", entry)
spelt = sorted({str(word) for entry in want for word in entry[1:] if word != ""} - words)
for word in spelt:
    print("not in the text:", word)
print("not complete" if missing or spelt else "every key and choice of the schema has an example")
PY
