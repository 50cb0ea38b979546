# reports: sections, numbers as in other commands, verdicts; searches; models without criteria or parameters; errors
"$MBGRAD" report quarter-car --out car.html --criteria psi0,psiL | sed "s/[0-9]* kB/SIZE kB/"
"$MBGRAD" gradient quarter-car --criteria psi0,psiL --all --json >gradient.json
"$MBGRAD" report five-bar-design --optimize --no-proof --no-error-estimate --out design.html --quiet
"$MBGRAD" optimize five-bar-design --no-error-estimate --json >design.json
"$MBGRAD" report noisy-pendulum --identify --no-proof --out fit.html --quiet
"$MBGRAD" identify noisy-pendulum --json >fit.json
"$MBGRAD" report overhead-crane --control --no-proof --out crane.html --quiet --frames 50
cat >plain.json <<'END'
{ "mbgrad": 1, "name": "a/<b> & \"c\"", "note": "<script>alert(1)</script>", "gravity": [0, -9.81, 0],
  "bodies": { "bob": { "motion": "planar-point", "mass": 1 } },
  "signals": { "y": { "type": "position", "of": "bob", "component": "y" } },
  "run": { "formulation": "lie", "end": 0.1, "step": 0.01 } }
END
"$MBGRAD" report plain.json | sed "s/[0-9]* kB/SIZE kB/"
sed 's/"run"/"criteria": { "last": { "terminal": "y" } }, "run"/; s/"name": [^,]*,/"name": "values",/' plain.json >values.json
"$MBGRAD" report values.json --quiet
"$MBGRAD" report plain.json --out - >out
head -n 1 out
python3 - <<'END'
import json, re
from html.parser import HTMLParser

class Page(HTMLParser):
    def __init__(self, name):
        super().__init__()
        self.sections, self.heads, self.rows, self.svg, self.links, self.frame, self.words, self.inside = [], [], [], 0, [], "", [], None
        self.kinds = []
        self.feed(open(name).read())
    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.inside = tag
        if tag == "section":
            self.sections.append(attrs["id"])
        if tag == "tr":
            self.rows.append([])
        if tag == "p" and attrs.get("class") in ("good", "bad", "warn"):
            self.kinds.append(attrs["class"])
        self.svg += tag == "svg"
        self.frame = attrs.get("srcdoc", self.frame)
        assert tag not in ("link", "img", "script"), tag
        for key in ("src", "href"):
            if key in attrs:
                self.links.append(attrs[key])
    def handle_data(self, data):
        if self.inside in ("td", "th") and self.rows and data.strip():
            self.rows[-1].append(data)
        self.words.append(data)
    def text(self):
        return " ".join(self.words)

car = Page("car.html")
print(car.sections, car.svg, car.kinds)
assert all(l.startswith("#") and l[1:] in car.sections for l in car.links), car.links
assert car.frame.lower().startswith("<!doctype html>") and "mbgrad" in car.frame and "</html>" in car.frame
g = json.load(open("gradient.json"))
def near(text, value):
    return abs(float(text) - value) <= 1e-5 * abs(value)
rows = [r for r in car.rows if r and r[0] == "p1"]
for row, c in zip(rows, ("psi0", "psiL")):
    value = g["criteria"][c]
    print(row[0], row[2], near(row[1], g["parameters"]["p1"]), near(row[3], value["gradient"]["p1"]), row[4].startswith("± "),
          near(row[5], value["gradient"]["p1"] * g["parameters"]["p1"]))
best = [r for r in car.rows if len(r) == 6 and r[0].startswith(("marker", "body", "force", "joint", "gravity"))]
first = g["criteria"]["psi0"]["all"][0]
print(len(best), best[0][:2] == [first["owner"], first["key"]], near(best[0][5], first["effect"]))
for words in ("gradient proven exact for these steps", "steps small enough", "direct and adjoint agree"):
    assert words in car.text(), words

page, r = Page("design.html"), json.load(open("design.json"))
print(page.sections, [near(row[2], r["parameters"][row[0]]["value"]) for row in page.rows if len(row) == 5 and ".." in row[4]], page.kinds)
page, r = Page("fit.html"), json.load(open("fit.json"))
print(page.sections, page.kinds, [row[0] for row in page.rows if row and row[0] in r["parameters"]][:2], page.svg)
print(Page("crane.html").sections)
page = Page("a-<b> & \"c\"-report.html")
print(page.sections, page.svg, "<script>alert(1)</script>" in page.text())
page = Page("values-report.html")
print(page.sections, page.svg, page.rows[1][0])
END
# found before the simulation, which would take hours
try() {
  timeout 60 "$MBGRAD" report "$@" --quiet
  echo "status $?"
}
try five-bar --out nowhere/x.html
try five-bar --criteria nothing
try five-bar --optimize --end 1e6 --step 1e-3
try five-bar --identify --end 1e6 --step 1e-3
try five-bar --control --end 1e6 --step 1e-3
try five-bar --frames 0 --end 1e6 --step 1e-3
ls
