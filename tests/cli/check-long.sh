# long lists are cut off, unless --full
python3 - <<'END'
import json
bodies = {f"b{i}": {"motion": "planar", "mass": 1, "inertia": 1, "position": [i, 0, 0]} for i in range(50)}
joints = {f"j{i}": {"type": "revolute", "between": [f"b{i-1}" if i else "ground", f"b{i}"], "at": [i, 0, 0]} for i in range(50)}
json.dump({"mbgrad": 1, "bodies": bodies, "joints": joints}, open("chain.json", "w"))
END
"$MBGRAD" check chain.json | grep -n -e '\.\.\.' -e '^bodies' -e 'b3[0-9] *revolute'
"$MBGRAD" check chain.json --full | tail -n 1
