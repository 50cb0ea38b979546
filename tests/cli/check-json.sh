# the JSON of a check: keys and values that programs rely on
"$MBGRAD" check four-bar-spatial --json --set m1=0.75 >check.json || exit
python3 - <<'END'
import json
c = json.load(open("check.json"))
print(" ".join(c))
assert (c["model"], c["degrees_of_freedom"], c["unknowns"], c["constraints"], c["rank"]) == ("four-bar-spatial", 1, 18, 20, 17)
assert len(c["redundant"]) == 3
assert c["start"]["residual"] < 1e-9 and c["start"]["free_positions"] == 0
assert c["bodies"]["crank"]["mass"] == 0.75 and c["bodies"]["crank"]["motion"] == "spatial"
assert abs(c["joints"]["A"]["coordinates"]["angle"]["rate"] - 3) < 1e-12
assert sum(j["closes_loop"] for j in c["joints"].values()) == 1
assert c["joints"]["B"]["bodies"] == ["crank", "coupler"] and c["joints"]["B"]["constraints"] == 5
assert c["parameters"]["m1"]["value"] == 0.75 and c["parameters"]["m1"]["unit"] == "kg"
assert c["signals"]["f4y"]["type"] == "reaction" and c["signals"]["f4y"]["value"] < 0
assert c["criteria"]["load"]["kind"] == "integral"
assert sorted(link["body"] for link in c["tree"][:3]) == ["coupler", "crank", "rocker"] and c["tree"][3]["kind"] == "loop"
assert c["warnings"] == []
for key in ("start", "energy"):
    print(key + ": " + " ".join(c[key]))
for key in ("bodies", "joints", "forces", "parameters", "signals"):
    print(key + ": " + " ".join(next(iter(c[key].values()))))
END
