# poses of all bodies in CSV and HDF5: the same numbers, the numbers of signals; between fixed steps; bad names
"$MBGRAD" simulate spatial-chain --quiet --poses chain.csv --out chain.h5
h5dump -n chain.h5 | grep -E 'bodies|frames|twists|modal|beams|time'
h5dump -a /frames/unit -a /twists/unit -a /time/unit chain.h5 | grep '(0)'
h5dump -d /bodies chain.h5 | grep '(0)'
h5dump -y -w 0 -m %.15g -d /frames -o frames.txt chain.h5 >/dev/null
h5dump -y -w 0 -m %.15g -d /twists -o twists.txt chain.h5 >/dev/null
"$MBGRAD" simulate spatial-chain --quiet --out nodes.csv
"$MBGRAD" simulate spatial-chain --quiet --out signals.csv --poses coarse.csv --interval 0.0123
"$MBGRAD" simulate cantilever --quiet --out beam.h5
h5dump -n beam.h5 | grep -E 'beams|modal'
h5dump -a /beams/arm/unit beam.h5 | grep '(0)'
h5dump -H -d /beams/arm -d /frames beam.h5 | grep DATASPACE
h5dump -y -w 0 -m %.15g -d /beams/arm -o beam.txt beam.h5 >/dev/null
h5dump -y -w 0 -m %.15g -d /frames -o nodes.txt beam.h5 >/dev/null
"$MBGRAD" simulate flexible-slider-crank --quiet --out modal.h5 --poses modal.csv --signals q1,q2,q3,q4 --end 0.01
h5dump -n modal.h5 | grep -E '/beams|/modal'
h5dump -d /modal/bodies modal.h5 | grep '(0)'
h5dump -y -w 0 -m %.15g -d /signals/q3 -o q3.txt modal.h5 >/dev/null
"$MBGRAD" simulate five-bar --quiet --poses run.txt
echo "status $?"
python3 - <<'END'
import csv

def table(name):
    rows = list(csv.reader(open(name)))
    return rows[0], {n: [float(r[i]) for r in rows[1:]] for i, n in enumerate(rows[0])}

def rotation(c, b, i):
    w, x, y, z = (c[f"{b}.q{k}"][i] for k in "wxyz")
    return [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
            2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
            2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]

head, c = table("chain.csv")
print(head)
frames = [float(v) for v in open("frames.txt").read().replace(",", " ").split()]
twists = [float(v) for v in open("twists.txt").read().replace(",", " ").split()]
n = len(c["t"])
worst = 0
for i in range(n):
    for k, b in enumerate(["body1", "body2"]):
        H = frames[12 * (2 * i + k):][:12]
        worst = max([worst] + [abs(x - y) for x, y in zip(H, rotation(c, b, i) + [c[f"{b}.{a}"][i] for a in "xyz"])])
print(len(frames) == 24 * n, len(twists) == 12 * n, worst < 1e-13)
# signals x, y, z are the position of a point of body 2; between steps of 10 ms both are interpolated,
# in different ways: (6 rad/s 10 ms)^2/8 of the length
def worst(p, s):
    out = 0
    for i in range(len(p["t"])):
        R, a = rotation(p, "body2", i), [0.25, 0.1, 0.05]
        for k, name in enumerate("xyz"):
            out = max(out, abs(p[f"body2.{name}"][i] + sum(R[3 * k + j] * a[j] for j in range(3)) - s[name][i]))
    return out
s, p = table("signals.csv")[1], table("coarse.csv")[1]
print(worst(c, table("nodes.csv")[1]) < 1e-13, p["t"] == s["t"], 0 < worst(p, s) < 3e-4)
print([abs(sum(p[f"body1.q{k}"][i] ** 2 for k in "wxyz") - 1) < 1e-14 for i in (0, 7)])
def numbers(name):
    return [float(v) for v in open(name).read().replace(",", " ").split()]
# nodes of a beam are bodies: the position of each is the end of its frame
frames, beam = numbers("nodes.txt"), numbers("beam.txt")
print(len(frames) == 4 * len(beam), beam == [v for i in range(0, len(frames), 12) for v in frames[i + 9:i + 12]])
head, m = table("modal.csv")
q3 = [float(v) for v in open("q3.txt").read().replace(",", " ").split()]
print(head[-4:], q3 == m["rod.eta3"])
END
