# sensitivities in the page: derivatives of the poses by parameters are differences of two simulations, numbers are
# ranked; runs beside the first one; iterates of an optimization; messages
"$MBGRAD" view five-bar --gradient --parameters k1,L01 --numbers 5 --quiet --out page.html
for value in 100.01 99.99; do "$MBGRAD" simulate five-bar --set k1=$value --quiet --poses k1-$value.csv; done
"$MBGRAD" view five-bar --gradient --parameters none --quiet --out none.html
"$MBGRAD" view five-bar --with k1=60,k2=80 --with simple-pendulum --quiet --out others.html
"$MBGRAD" optimize five-bar-design --iterations 3 --quiet --no-error-estimate --view iterates.html
echo "status $?"
for arguments in "--parameters k1" "--gradient --parameters k3" "--gradient --numbers 0" "--with k1" "--with k1=x" "--with k1=1,m9=2" "--with m1=-1"; do
  "$MBGRAD" view five-bar $arguments --quiet --out not.html
  echo "$arguments: status $?"
done
ls *.html
python3 - <<'END'
import base64, csv, json, re, struct, zlib

def read(name):
    data = zlib.decompress(base64.b64decode(re.search(r'id="data">([^<]*)<', open(name, encoding="utf-8").read())[1]), -15)
    length = struct.unpack("<I", data[:4])[0]
    return json.loads(data[4:4 + length]), data[4 + length:]

def channel(data, at, n, scale):
    out, sums = [], [0] * data[at]
    for i in range(n):
        z = sum(data[at + 1 + k * n + i] << 8 * k for k in range(4))
        x = z >> 1 ^ (-(z & 1) & 0xffffffff)
        for k in reversed(range(len(sums))):
            x = sums[k] = (sums[k] + x) & 0xffffffff
        out.append(scale * (x - (1 << 32) * (x >> 31)))
    return out

scene, data = read("page.html")
n, bodies, ghosts = scene["motion"]["frames"], scene["bodies"], scene["ghosts"]
print([scene["parameters"][g["parameter"]]["name"] for g in ghosts])
# derivatives: every k-th value and the last one are kept, polynomials in time through six of them give the rest
count = lambda k: -(-(n - 1) // k) + 1
first = len(data) - sum(4 * count(k) + 1 for g in ghosts for k in g["every"])

def sparse(at, k, scale):
    y = channel(data, at, count(k), scale * (2 if k == 1 else 1))
    if k == 1:
        return y
    t, out = [times[min(i * k, n - 1)] for i in range(len(y))], []
    for i in range(n):
        start = max(0, min(len(y) - 6, i // k - 2))
        near, total = range(start, start + 6), 0
        for a in near:
            weight = 1
            for b in near:
                weight *= (times[i] - t[b]) / (t[a] - t[b]) if a != b else 1
            total += weight * y[a]
        out.append(total)
    return out

table = {v: list(csv.DictReader(open(f"k1-{v}.csv"))) for v in ("100.01", "99.99")}
times = [scene["motion"]["time"][0] + x for x in channel(data, 0, n, scene["motion"]["time"][1])]
worst = most = 0
for b, name in enumerate(bodies):
    every = ghosts[0]["every"]
    places = [first + sum(4 * count(e) + 1 for e in every[:6 * b + k]) for k in range(6)]
    w = [sparse(places[k], every[6 * b + k], ghosts[0]["position" if k < 3 else "rotation"]) for k in range(6)]
    for i in range(0, n, 37):
        row, other = (min(t, key=lambda r: abs(float(r["t"]) - times[i])) for t in table.values())
        turn = 2 * (float(row[f"{name}.qz"]) * float(other[f"{name}.qw"]) - float(row[f"{name}.qw"]) * float(other[f"{name}.qz"]))
        worst, most = max(worst, abs(turn / 0.02 - w[5][i])), max(most, abs(w[5][i]))
        far = sum((float(row[f"{name}.{c}"]) - float(other[f"{name}.{c}"])) ** 2 for c in "xy") ** 0.5
        worst = max(worst, abs(far / 0.02 - (w[0][i] ** 2 + w[1][i] ** 2) ** 0.5))
print(worst < 1e-5 * most, most > 1e-4)
for owner, key, unit, value, effect in scene["effects"][0]["numbers"]:
    print(owner, key, unit, f"{value:.4g} {effect:.4g}")
print(scene["effects"][0]["elements"][:4:2])
print(read("none.html")[0]["ghosts"])
scene, data = read("others.html")
print(scene["label"], [(o["label"], len(o["bodies"]), [p["value"] for p in o["parameters"]][:2]) for o in scene["others"]])
scene, data = read("iterates.html")
print(scene["label"], [o["label"] for o in scene["others"]])
print([round(o["parameters"][0]["value"], 4) for o in scene["others"]], round(scene["parameters"][0]["value"], 4))
END
