# redundant constraints: how many, and that they have names (which ones they are is a matter of rounding)
for model in four-bar-spatial bricard driven-flap; do
  "$MBGRAD" check $model --json | python3 -c '
import json, re, sys
c = json.load(sys.stdin)
assert all(re.fullmatch("joint .* row .*|driver .*", name) for name in c["redundant"])
assert sum(j["redundant"] for j in c["joints"].values()) == len(c["redundant"]) == c["constraints"] - c["rank"]
print(c["model"] + ":", c["degrees_of_freedom"], "degrees of freedom,", len(c["redundant"]), "redundant")'
  "$MBGRAD" check $model | grep -o 'of which.*redundant:'
done
