# by every number of the model, ranked
"$MBGRAD" gradient double-pendulum-spring --all --top 4 | sed -E 's/[0-9.e-]+ s for/TIME for/g; s/[0-9.]+ MB/SIZE/; s/[0-9]+ more \(--top [0-9]+/N more (--top N/'
"$MBGRAD" gradient quarter-car --all --json >all.json
python3 - <<'END'
import json
run = json.load(open("all.json"))
for name, c in run["criteria"].items():
    effects = [a["effect"] for a in c["all"]]
    assert effects == sorted(effects, reverse=True) and len(effects) > 50
    # the mass of the chassis is p3 and nothing else
    mass = [a for a in c["all"] if a["owner"] == "body 'chassis'" and a["key"] == "mass"]
    assert len(mass) == 1 and abs(mass[0]["derivative"] / c["gradient"]["p3"] - 1) < 1e-12, name
print({k: float(f"{v:.10g}") if isinstance(v, float) else v for k, v in c["all"][0].items()})
END
