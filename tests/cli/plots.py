"""Pictures of plots.sh as numbers: what stands where, and whether colours differ."""

import itertools
import re
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


def points(d):
    return [tuple(map(float, p)) for p in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", d)]


def width(text, size=12):
    return 0.5 * size * len(text)


def check(name):
    root = ET.parse(name + ".svg").getroot()
    frames, curves, marks = [], [], 0
    for e in root.iter(SVG + "path"):
        if e.get("class") == "a":
            (x0, y0), (_, y1), (x1, _) = points(e.get("d"))
            frames.append((x0, y0, x1, y1))
        elif e.get("class") in ("l", "d"):
            curves.append(e)
        marks += e.get("class") == "m"
    marks += len(list(root.iter(SVG + "circle")))
    texts = [(e, "".join(e.itertext())) for e in root.iter(SVG + "text")]
    labels = [t for e, t in texts if e.get("transform")]
    plain = [(float(e.get("x")), float(e.get("y")), e.get("text-anchor"), t) for e, t in texts if not e.get("transform")]
    # nothing is written over curves, all curves are inside their axes and the picture
    w, h = float(root.get("width")), float(root.get("height"))
    for x, y, anchor, text in plain:
        left = x - {"start": 0, "middle": 0.5, "end": 1}[anchor] * width(text)
        inside = [f for f in frames if f[0] < left + width(text) and left < f[2] and f[1] + 2 < y < f[3] - 2]
        assert not inside or text.startswith("no "), (name, text)
        assert -2 <= left and left + width(text) <= w + 8 and 0 < y <= h, (name, text)
    for e in curves:
        for x, y in points(e.get("d")):
            assert any(f[0] - 0.2 <= x <= f[2] + 0.2 and f[1] - 0.2 <= y <= f[3] + 0.2 for f in frames), (name, x, y)
    # labels of ticks do not touch
    for f in frames:
        row = sorted(p for p in plain if abs(p[1] - f[3] - 17) < 0.2 and f[0] - 9 <= p[0] <= f[2] + 9)
        for a, b in itertools.pairwise(row):
            assert b[0] - a[0] > (width(a[3]) + width(b[3])) / 2 + 3, (name, a, b)
        assert 2 <= len(row) <= 24, (name, row)
    print(name, len(frames), "panels", len(curves), "curves", marks, "marks;", *labels, sep=" | ")
    return curves, [t for _, t in texts]


def lab(rgb):
    c = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb]
    m = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    x, y, z = (sum(a * b for a, b in zip(r, c)) for r in m)
    f = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x / 0.9505, y, z / 1.089)]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


# Machado, Oliveira and Fernandes 2009: no cones for long, middle, short waves
BLIND = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def differ(curves):
    style = [(c.get("stroke"), c.get("stroke-dasharray")) for c in curves]
    assert len(set(style)) == len({s for s, _ in style}) == len(style), style
    for kind, m in BLIND.items():
        worst = 1e9
        for (a, da), (b, db) in itertools.combinations(style, 2):
            rgb = [[int(s[i : i + 2], 16) / 255 for i in (1, 3, 5)] for s in (a, b)]
            seen = [[min(1, max(0, sum(p * q for p, q in zip(r, v)))) for r in m] for v in rgb]
            if da == db:
                worst = min(worst, sum((p - q) ** 2 for p, q in zip(*map(lab, seen))) ** 0.5)
        print(kind, "far enough" if worst > 15 else f"distance {worst:.1f}")


for name in sys.argv[1:]:
    found, words = check(name)
    if name == "colours":
        differ(found)
        print(words[-14:] if "s14" in words[-1] else [t for t in words if re.fullmatch(r"s\d\d", t)])
    if name in ("wild", "logs"):
        print([t for t in words if "shown" in t or "×" in t or "…" in t or t.startswith("no ")])
