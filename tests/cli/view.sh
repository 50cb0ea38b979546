# the page of a motion: its data unpacked by another program are the poses and signals of the run; options, messages
"$MBGRAD" view spatial-chain --gradient | sed "s#[0-9]* kB#SIZE kB#"
"$MBGRAD" simulate spatial-chain --quiet --poses poses.csv --out signals.csv
"$MBGRAD" view vehicle --end 0.1 --frames 20 --quiet --out car.html
"$MBGRAD" view flexible-slider-crank --end 0.01 --quiet --out modal.html
"$MBGRAD" view cantilever --quiet --out - >beam.html
"$MBGRAD" view cantilever --glb beam.glb && head -c 4 beam.glb && echo && ls *.html *.glb
"$MBGRAD" view five-bar --glb nowhere/x.glb
echo "status $?"
"$MBGRAD" view five-bar --out spatial-chain.html/x.html
echo "status $?"
"$MBGRAD" view five-bar --frames 1
echo "status $?"
python3 - <<'END'
import base64, csv, json, math, re, struct, zlib

def read(name):
    text = open(name, encoding="utf-8").read()
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", text)
    packed = base64.b64decode(re.search(r'id="data">([^<]*)<', text)[1])
    data = zlib.decompress(packed, -15)
    length = struct.unpack("<I", data[:4])[0]
    scene = json.loads(data[4:4 + length])
    n, at = scene["motion"]["frames"], 4 + length
    def channel(offset, scale, count=None):
        nonlocal at
        count = count or n
        order, planes, at = data[at], data[at + 1:at + 1 + 4 * count], at + 1 + 4 * count
        out, sums = [], [0] * order
        for i in range(count):
            z = sum(planes[k * count + i] << 8 * k for k in range(4))
            x = z >> 1 ^ (-(z & 1) & 0xffffffff)
            for k in reversed(range(order)):
                x = sums[k] = (sums[k] + x) & 0xffffffff
            out.append(offset + scale * (x - (1 << 32) * (x >> 31)))
        return out
    def sparse(offset, scale, k):  # every k-th value and the last one, polynomials in time through six of them
        if k == 1:
            return channel(offset, 2 * scale)
        y, out = channel(offset, scale, -(-(n - 1) // k) + 1), []
        t = [columns["t"][min(i * k, n - 1)] for i in range(len(y))]
        for i, now in enumerate(columns["t"]):
            near = range(max(0, min(len(y) - 6, i // k - 2)), max(0, min(len(y) - 6, i // k - 2)) + 6)
            out.append(sum(y[a] * math.prod((now - t[b]) / (t[a] - t[b]) for b in near if b != a) for a in near))
        return out
    m = scene["motion"]
    columns = {"t": channel(*m["time"])}
    for body in scene["bodies"]:
        for k in ["x", "y", "z", "qx", "qy", "qz", "qw"]:
            columns[f"{body}.{k}"] = channel(0, m["position"] if len(k) == 1 else m["rotation"])
    for j in range(len(m["modal"]) // 2):
        columns[f"eta{j + 1}"] = channel(*m["modal"][2 * j:2 * j + 2])
    for k, name in enumerate(m["names"]):
        columns[name] = sparse(*m["signals"][3 * k:3 * k + 3])
    for g in scene.get("ghosts", []):
        name = scene["parameters"][g["parameter"]]["name"]
        for i, every in enumerate(g["every"]):
            columns[f"{i}:{name}"] = sparse(0, g["position"] if i % 6 < 3 else g["rotation"], every)
    assert at == len(data)
    return text, scene, columns

def table(name):
    rows = list(csv.reader(open(name)))
    return {n: [float(r[i]) for r in rows[1:]] for i, n in enumerate(rows[0])}

text, scene, page = read("spatial-chain.html")
print(len(text) < 300000, "MIT" in text and "three.js" in text, re.search("<title>(.*)</title>", text)[1])
poses, signals = table("poses.csv"), table("signals.csv")
worst = 0
for name, values in poses.items():
    quaternion = re.search(r"\.q.$", name)
    for i, v in enumerate(values):
        w = poses[name[:-1] + "w"][i] * page[name[:-1] + "w"][i] if quaternion else 1
        full = sum(poses[name[:-1] + k][i] * page[name[:-1] + k][i] for k in "wxyz") if quaternion else 1
        worst = max(worst, abs(v - math.copysign(1, full) * page[name][i]))
print(sorted(set(poses) - set(page)), worst < 1e-7)
print(all(abs(a - b) <= 1e-6 * max(map(abs, signals[k])) for k in signals for a, b in zip(signals[k], page[k])))
print([s["kind"] for s in scene["shapes"]], scene["up"], [j["type"] for j in scene["joints"]], [f["type"] for f in scene["forces"]])
print([c["name"] for c in scene["criteria"]], len(scene["criteria"][0]["gradient"]) == len(scene["parameters"]))
_, scene, page = read("car.html")
print(len(page["t"]), page["t"][0], page["t"][-1], len(scene["bodies"]), sum(s.get("wheel", False) for s in scene["shapes"]))
_, scene, page = read("modal.html")
print([(m["body"], m["n"], "nodes" in m) for m in scene["modal"]], abs(page["eta1"][9] - page["q1"][9]) < 1e-9)
_, scene, page = read("beam.html")
print([(b["name"], b["first"], b["count"], b["round"], b["section"][0]) for b in scene["beams"]])
END
