# every folder of the gallery is listed with a description
"$MBGRAD" list | sed -n '/^five-bar /p; /^heavy-top /p'
"$MBGRAD" list --json | python3 -c '
import json, os, sys
models = json.load(sys.stdin)
folders = sorted(f for f in os.listdir(sys.argv[1]) if os.path.exists(os.path.join(sys.argv[1], f, "model.json")))
assert [m["name"] for m in models] == folders
assert all(m["note"] for m in models)
' "$SRC/gallery"
