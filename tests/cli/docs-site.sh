# The pages of the site: the model file is one page a section, every key of the schema is there
/usr/bin/python3 "$SRC/tools/site" --gather --pages "$PWD/pages"
[ -f pages/model/joints.md ] && [ -f pages/reference/joints.md ] && grep -c '^## `' pages/reference/joints.md |
  sed 's/[1-9][0-9]*/types of joints/'
/usr/bin/python3 - <<'PY'
import os, re
for root, _, files in os.walk("pages"):
    for name in files:
        if not name.endswith(".md"):
            continue
        path = os.path.join(root, name)
        text = re.sub(r"(?ms)^```.*?^```$", "", open(path, encoding="utf-8").read())
        for link in re.findall(r"\]\(([^)\s#:]+)(?:#[^)\s]*)?\)", text):
            if not os.path.exists(os.path.normpath(os.path.join(root, link))):
                print(path, "dead link", link)
PY
exit 0
