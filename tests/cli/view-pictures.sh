# pictures without a browser: a film whose figures are where the simulation says, still pictures, numbered ones, a model
# without motion, messages
"$MBGRAD" view five-bar --film film.svg --frames 11 --quiet
"$MBGRAD" simulate five-bar --quiet --poses poses.csv
"$MBGRAD" view five-bar --picture end.svg --at 5 --quiet
"$MBGRAD" view five-bar --picture n%02d.svg --frames 3 --quiet
"$MBGRAD" view cantilever --film still.svg --quiet
"$MBGRAD" view heavy-top --picture top.svg --eye 0,90 --quiet --out top.html
for name in vehicle flexible-slider-crank two-arm; do "$MBGRAD" view $name --end 0.01 --picture $name.svg --quiet; done
"$MBGRAD" view "$SRC/tests/web/contacts" --picture contacts.svg --at 0.5 --quiet
"$MBGRAD" view "$SRC/tests/web/contacts" --film roads.svg --frames 5 --quiet
"$MBGRAD" view "$SRC/tests/web/curves" --picture curves.svg --quiet
"$MBGRAD" view block-and-tackle --picture tackle.svg --quiet
ls
# a program of this name that keeps its arguments and counts the pictures
mkdir bin tmp && export TMPDIR=$PWD/tmp && printf '#!/bin/sh\necho "$@" | sed "s#[^ ]*/mbgrad-film-[^/]*#FOLDER#g"; ls "$(dirname "$7")" | wc -l; echo film >"$(eval echo "\${$#}")"\n' >bin/ffmpeg
chmod +x bin/ffmpeg
if "$MBGRAD" view five-bar --picture car.png --quiet 2>/dev/null; then
  head -c 4 car.png | tail -c 3 && echo
  "$MBGRAD" view five-bar --picture car.pdf --quiet && head -c 4 car.pdf && echo
  for film in film.mp4 film.gif; do PATH=$PWD/bin:$PATH "$MBGRAD" view five-bar --film $film --frames 4 --quiet && cat $film; done
  (PATH=$PWD/none "$MBGRAD" view five-bar --film film.mp4 --frames 2 --quiet) 2>&1; ls tmp
else
  cat "$SRC/tests/cli/view-pictures.cairo" # a program without cairo
fi
for arguments in "--film x.avi" "--picture x.jpg" "--picture x" "--picture x.svg --at soon" "--film x.svg --eye 30" "--film x.svg --frames 20000" "--film no/x.svg"; do
  "$MBGRAD" view five-bar $arguments
  echo "$arguments: status $?"
done
python3 - <<'END'
import csv, xml.etree.ElementTree as tree
S = "{http://www.w3.org/2000/svg}"
curves = tree.parse("curves.svg").getroot()  # cam, shoe and flat face, three feet; slot, helix and lines of the bowl
assert len(list(curves.iter(S + "polygon"))) == 6
assert sum(len(line.get("points").split()) > 8 for line in curves.iter(S + "polyline")) >= 2

# the rope of the tackle, straight down from sheave to sheave: as long as its parts and four half circles, in pixels
tackle = tree.parse("tackle.svg").getroot()
(rope,) = [e for e in tackle.iter(S + "polyline") if len(e.get("points").split()) > 50]
points = [[float(v) for v in p.split(",")] for p in rope.get("points").split()]
length = sum(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5 for a, b in zip(points, points[1:]))
metre = (points[1][1] - points[0][1]) / 2.5  # down to the first moving sheave
print("rope", len(points), abs(length / metre - (11.5 + 0.2 * 3.14159265)) < 0.012)  # points to 0.1 pixels: 1e-3

def lines(name):  # thick lines: rods
    return [e for e in tree.parse(name).getroot().iter(S + "line") if float(e.get("stroke-width")) > 4]

def ends(line):
    values = {a.get("attributeName"): [float(v) for v in a.get("values").split(";")] for a in line}
    return [values.get(k, [float(line.get(k))] * 11) for k in ("x1", "y1", "x2", "y2")]

rods = [ends(e) for e in lines("film.svg")]
rows = list(csv.DictReader(open("poses.csv")))
# midpoints of the rods in pixels against positions in m: one scale for both axes, y upwards
pairs = []
for i in range(11):
    row = min(rows, key=lambda r: abs(float(r["t"]) - 0.5 * i))
    bodies = sorted((float(row[f"rod{k}.x"]), -float(row[f"rod{k}.y"])) for k in range(1, 5))
    middles = sorted(((r[0][i] + r[2][i]) / 2, (r[1][i] + r[3][i]) / 2) for r in rods)
    pairs += list(zip(bodies, middles))
(a, b), (c, d) = min(pairs), max(pairs)
scale = (d[0] - b[0]) / (c[0] - a[0])
off = max(max(abs(m[k] - b[k] - scale * (x[k] - a[k])) for k in (0, 1)) for x, m in pairs)
print(len(rods), len(pairs), off < 0.15, tree.parse("film.svg").getroot().find(f".//{S}animate").get("dur"))
first, last = lines("n01.svg")[0], lines("end.svg")[0]
print(sorted(first.keys()), len(list(first)), len(lines("n03.svg")), len(list(last)))
# the plane has 9 + 9 lines, the roads of the roller and of the wheel 2 + 9; only the last one moves
text, roads = open("contacts.svg").read(), tree.parse("roads.svg").getroot()
ground = [e for e in roads.iter() if e.get("stroke") == "#c6cdd8"]
print(text.count('"#c6cdd8"'), len(ground), sum(1 for e in ground if len(list(e))))
print("animate" in open("still.svg").read(), len(list(tree.parse("top.svg").getroot().iter())) > 5)
END
