# loads in the page of a motion: unpacked by another program they are the signals of joints, forces and beams
cat >arm.json <<'END'
{
  "mbgrad": 1,
  "name": "arm",
  "gravity": [0, 0, -9.81],
  "bodies": {
    "arm": {"mass": 2, "inertia": [0.1, 0.2, 0.2], "position": [0.5, 0, 0]},
    "hand": {"mass": 1, "inertia": [0.01, 0.01, 0.01], "position": [1, 0, 0]}
  },
  "markers": {"hook": {"on": "ground", "at": [0.7, 0.3, 1]}},
  "joints": {
    "shoulder": {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0.2, 1, 0]},
    "wrist": {"type": "spherical", "between": ["hand", "arm"], "at": [1, 0, 0]}
  },
  "forces": {
    "spring": {"type": "spring-damper", "between": ["hook", "arm"], "stiffness": 40, "damping": 1, "rest": 0.8},
    "brake": {"type": "torsion-spring-damper", "joint": "shoulder", "stiffness": 3, "damping": 0.2},
    "push": {"type": "force", "on": "hand", "in": "world", "force": [0, "4*sin(9*t)", 1], "torque": [0.01, 0, 0]}
  },
  "states": {"lag": {"rate": "z - lag", "initial": 0}},
  "signals": {
    "z": {"type": "position", "of": "hand", "component": "z"},
    "shoulder_0": {"type": "reaction", "joint": "shoulder", "component": "fx", "in": "world"},
    "shoulder_2": {"type": "reaction", "joint": "shoulder", "component": "fz", "in": "world"},
    "shoulder_5": {"type": "reaction", "joint": "shoulder", "component": "mz", "in": "world"},
    "wrist_1": {"type": "reaction", "joint": "wrist", "component": "fy", "in": "world"},
    "spring_0": {"type": "force", "force": "spring"},
    "brake_0": {"type": "force", "force": "brake"},
    "push_1": {"type": "force", "force": "push", "component": "fy", "in": "world"},
    "push_3": {"type": "force", "force": "push", "component": "mx", "in": "world"}
  },
  "run": {"formulation": "lie", "end": 0.4, "step": 0.01}
}
END
for formulation in lie ali3p dca qr; do
  "$MBGRAD" view arm.json --loads --formulation $formulation --quiet --out $formulation.html
  "$MBGRAD" simulate arm.json --formulation $formulation --quiet --out $formulation.csv
done
"$MBGRAD" view arm.json --quiet --out plain.html
"$MBGRAD" view cantilever --loads --quiet --out beam.html
"$MBGRAD" simulate cantilever --quiet --out beam.csv
"$MBGRAD" view bricard --end 0.1 --loads --quiet --out bricard.html
"$MBGRAD" view heavy-top --end 0.05 --loads --gradient --with m=16 --quiet --out all.html
python3 - <<'END'
import base64, csv, json, re, struct, zlib

def read(name):
    text = open(name, encoding="utf-8").read()
    data = zlib.decompress(base64.b64decode(re.search(r'id="data">([^<]*)<', text)[1]), -15)
    length = struct.unpack("<I", data[:4])[0]
    scene = json.loads(data[4:4 + length])
    n, m = scene["motion"]["frames"], scene["motion"]
    at = 4 + length + (4 * n + 1) * (1 + 7 * len(scene["bodies"]) + len(m["modal"]) // 2)
    at += sum(4 * (-(-(n - 1) // k) + 1) + 1 for k in m["signals"][2::3])  # every k-th value and the last one
    def channel(scale):
        nonlocal at
        order, planes, at = data[at], data[at + 1:at + 1 + 4 * n], at + 1 + 4 * n
        out, sums = [], [0] * order
        for i in range(n):
            z = sum(planes[k * n + i] << 8 * k for k in range(4))
            x = z >> 1 ^ (-(z & 1) & 0xffffffff)
            for k in reversed(range(order)):
                x = sums[k] = (sums[k] + x) & 0xffffffff
            out.append(scale * (x - (1 << 32) * (x >> 31)))
        return out
    l, columns, zero = scene.get("loads"), {}, [0] * n
    if not l:
        return scene, columns, at == len(data)
    def take(name, mask, scales):
        for k, scale in enumerate(scales):
            columns[f"{name}_{k}"] = channel(scale) if mask >> k & 1 else zero
    wrench = [l["force"]] * 3 + [l["moment"]] * 3
    for k, j in enumerate(scene["joints"]):
        take(j["name"], l["joints"][2 * k], wrench)
    for k, f in enumerate(scene["forces"]):
        along = f.get("along")
        take(f["name"], l["forces"][k], wrench if not along else [l["moment" if "angle" in along else "force"]])
    for e, mask in enumerate(l["elements"]):
        take(f"element {e}", mask, [l["strain"], l["curvature"], l["curvature"]])
    return scene, columns, at == len(data)

def table(name):
    rows = list(csv.reader(open(name)))
    return {n: [float(r[i]) for r in rows[1:]] for i, n in enumerate(rows[0])}

for formulation in ["lie", "ali3p", "dca", "qr"]:
    scene, page, whole = read(formulation + ".html")
    right, worst = table(formulation + ".csv"), 0
    times = len(page["spring_0"]) == len(right["t"])
    for name, values in right.items():
        if name in page and times:
            step = scene["loads"]["moment" if name in ["shoulder_5", "brake_0", "push_3"] else "force"]
            worst = max(worst, max(abs(a - b) for a, b in zip(page[name], values)) / step)
    print(formulation, sorted(set(page) & set(right)), worst < 0.51, times, whole)
print([f["name"] for f in scene["forces"]], scene["loads"]["weights"], [bin(x) for x in scene["loads"]["joints"]])
print("plain", "loads" in read("plain.html")[0])
scene, page, whole = read("beam.html")
b, right = scene["beams"][0], table("beam.csv")["fibre"]
stress = [b["E"][0] * (e - b["section"][0][0] / 2 * k) for e, k in zip(page["element 0_0"], page["element 0_2"])]
print("stress", max(abs(x - y) for x, y in zip(stress, right)) < 1e-4 * max(map(abs, right)), whole)
loads = read("bricard.html")[0]["loads"]
print("open", sum(1 for x in loads["joints"][1::2] if x) > 0, all(not a & b for a, b in zip(loads["joints"][::2], loads["joints"][1::2])))
scene = read("all.html")[0]
print("loads" in scene, len(scene["ghosts"]), len(scene["others"]))
END
