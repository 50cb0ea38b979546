# without criteria, an accuracy is that of the signals at the nodes: tighter ones take shorter steps
python3 - "$SRC/gallery/simple-pendulum/model.json" <<'END'
import json, sys
model = json.load(open(sys.argv[1]))
model.pop("criteria")
model["signals"].pop("E")  # zero, and so are parts of it
model["parameters"] = {name: p["value"] for name, p in model["parameters"].items()}
json.dump(model, open("pendulum.json", "w"))
END
for formulation in lie qr; do
  for accuracy in 1e-2 1e-4; do
    "$MBGRAD" simulate pendulum.json --end 1 --formulation $formulation --accuracy $accuracy --quiet
  done
done

# signals that stay near 0: the energy of the pendulum is judged by the energy that comes and goes, a coordinate out of
# its plane by the size of the mechanism; rounding alone ends the search
python3 - "$SRC/gallery/simple-pendulum/model.json" <<'END'
import json, sys
model = json.load(open(sys.argv[1]))
model.pop("criteria")
model["parameters"] = {name: p["value"] for name, p in model["parameters"].items()}
model["signals"]["z"] = {"type": "position", "of": "bob", "component": "z"}
json.dump(model, open("zero.json", "w"))
model["signals"].pop("E")
model["signals"]["noise"] = {"type": "expression", "value": "1e-3*((x + 1e6) - 1e6 - x)"}
json.dump(model, open("noise.json", "w"))
END
for formulation in lie qr; do
  timeout 60 "$MBGRAD" simulate zero.json --end 1 --formulation $formulation --accuracy 1e-4 --quiet
done
timeout 60 "$MBGRAD" simulate noise.json --end 0.3 --formulation lie --accuracy 1e-4 --quiet
