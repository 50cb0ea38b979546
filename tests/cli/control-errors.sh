# wrong use is explained
try() {
  "$MBGRAD" control "$@" >out
  echo "$? $*" >&2
}
try five-bar
try overhead-crane --objective Q
try overhead-crane --objective J=x
try overhead-crane --objective ,
try overhead-crane --objective J --controls v
try overhead-crane --samples 1
try overhead-crane --samples 2.5
try overhead-crane --min 3 --max 2
try overhead-crane --min few
try overhead-crane --effort=-1
try overhead-crane --effort 0
try overhead-crane --interpolation quintic
try overhead-crane --optimizer simplex
try overhead-crane --tracking x_l
try overhead-crane --tracking x_l:nothing
try overhead-crane --signals nothing
try overhead-crane --out motion.txt
try overhead-crane --resume
try overhead-crane --restart nothing --resume
try overhead-crane --iterations 0
try overhead-crane --iterations 2 --stages 1 --quiet --control no/such.csv
try overhead-crane --iterations 2 --stages 1 --quiet --restart no/such
python3 - "$SRC" <<'END'
import json, sys
model = json.load(open(sys.argv[1] + "/gallery/overhead-crane/model.json"))
del model["control"]
json.dump(model, open("no-section.json", "w"), indent=1)
model["forces"]["drive"]["force"] = "sqrt(u) - d*v"
json.dump(model, open("no-start.json", "w"), indent=1)
part = {"mbgrad": 1, "parts": {"one": {"use": "no-section.json"}},
        "criteria": {"way": {"terminal": "one.x_l^2"}}, "run": {"end": 1, "step": 0.1}}
json.dump(part, open("part.json", "w"), indent=1)
END
try no-section.json
try no-start.json --objective J
try part.json --objective way --iterations 1 --quiet --write found.json
# a model is written with its own parameters
cp no-section.json crane.json
try crane.json --objective J --iterations 1 --quiet --set L=1.4 --write found.json
