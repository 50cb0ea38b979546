# wrong use is explained
try() {
  "$MBGRAD" "$@" >out
  echo "$? $*" >&2
}
try gradient quarter-car --method ajoint
try gradient quarter-car --method magic
try gradient quarter-car --end 0
try gradient quarter-car --formulation qr --integrator adams --method adjoint
try gradient quarter-car --formulation lie --adjoint-tolerance 1e-6
try gradient quarter-car --formulation qr --adjoint-tolerance 2
try gradient quarter-car --formulation qr --method continuous-paper
try gradient quarter-car --formulation lei
try gradient quarter-car --set p7=1
try gradient quarter-car --top 0 --all
try gradient quarter-car --top 1.5 --all
try compare quarter-car --set p7=1
try compare quarter-car --plot nowhere/plot.svg
try check quarter-car --step 0.1
try check quarter-car --gradient --plot nowhere/plot.svg
try check quarter-car --gradient --end=-1
python3 - "$SRC/gallery/four-bar-spatial/model.json" <<'END'
import copy, json, sys
model = json.load(open(sys.argv[1]))
# a torque that three redundant constraints leave open
open_reaction = copy.deepcopy(model)
open_reaction["signals"]["m4x"] = {"type": "reaction", "joint": "D", "component": "mx"}
open_reaction["criteria"] = {"torque": {"integral": "m4x^2"}}
json.dump(open_reaction, open("reaction.json", "w"), indent=2)
# an axis that leans out of the plane: only at 0 do the joints fit together
lean = copy.deepcopy(model)
lean["parameters"]["lean"] = 0
lean["joints"]["D"]["axes"] = [[0, 0, 1], ["lean", 0, 1]]
json.dump(lean, open("lean.json", "w"), indent=2)
END
try gradient reaction.json
try gradient lean.json
try gradient lean.json --method adjoint
try check lean.json --gradient
try gradient lean.json --set lean=0.1 2>&1 | sed -E 's/by [0-9.e-]+ \(relative/by X (relative/' >&2
