# The C code of docs: elements of adding-elements.md, built into a program, give gradients on which direct differentiation and adjoint
# agree; blocks of adding-formulations.md stand in tests/formulations/euler as they are. Not under sanitizers.
build=$(dirname "$MBGRAD")
mkdir elements
awk '/^`src\/elements\/[a-z_]+\.c`$/ { name = substr($0, 6, length($0) - 6); next }
  /^```/ { inside = name != "" && $0 == "```c"; if ($0 == "```") name = ""; next } inside { print >name }' "$SRC/docs/adding-elements.md"
ls elements
cp "$build/generated/elements/lists.def" elements
for file in elements/*_*.c; do
  name=$(basename "$file" .c)
  sed -i "s/^#define MBG__ELEMENTS_${name%%_*}(X)/& X(${name%%_*}, ${name#*_})/" elements/lists.def
done

cat >bead.json <<'END'
{
  "mbgrad": 1,
  "parameters": { "r": { "value": 0.5 }, "k": { "value": 10 }, "k3": { "value": 200 }, "c": { "value": 3 } },
  "gravity": [0, -9.81, 0],
  "bodies": { "bead": { "mass": 1, "inertia": [0.1, 0.1, 0.1], "position": ["r", 0, 0], "velocity": [0, 0, 0] } },
  "joints": { "wire": { "type": "point-on-circle", "between": ["ground", "bead"], "points": [[0, 0, 0], [0, 0, 0]],
                        "axes": [[0, 0, 1], [0, 0, 1]], "radius": "r" } },
  "forces": {
    "cubic": { "type": "cubic-spring", "between": ["ground", "bead"], "along": "x", "stiffness": "k", "cubic": "k3" },
    "home": { "type": "centring-spring", "between": ["ground", "bead"], "points": [[0, 1, 0], [0, 0, 0]], "stiffness": "c" }
  },
  "signals": { "speed2": { "type": "speed-squared", "of": "bead" } },
  "criteria": { "energy": { "integral": "speed2" } },
  "run": { "end": 0.5, "step": 0.01 }
}
END
sed 's/METHOD_ADJOINT/METHOD_DIRECT/' "$SRC/examples/gradient.c" >direct.c
cp "$SRC/examples/gradient.c" adjoint.c
links=$(sed -n 's/^Libs.private: //p' "$build/mbgrad.pc")
for method in direct adjoint; do
  # shellcheck disable=SC2086
  cc -std=c17 -Wall -Wextra -Werror -ffp-contract=off -I. -I"$SRC/src" -I"$SRC/include" -I"$build/include" -I"$build/generated" \
    $method.c "$SRC/src/elements/lists.c" elements/*.c "$build/libmbgrad.a" $links -o $method && ./$method bead.json >$method.txt
done
grep -c '  by' adjoint.txt
/usr/bin/python3 - <<'PY'
import glob, os, re
def numbers(path):
    return [float(line.split()[-1]) for line in open(path)]
direct, adjoint = numbers("direct.txt"), numbers("adjoint.txt")
worst = max(abs(a - b) for a, b in zip(direct, adjoint)) / max(map(abs, adjoint))
print("direct and adjoint agree" if len(direct) == 5 and min(map(abs, adjoint)) > 0 and worst < 1e-8 else (direct, adjoint))  # 9 digits are printed

src = os.environ["SRC"]
code = "\n".join(open(path).read() for path in glob.glob(src + "/tests/formulations/euler/*"))
flat = " ".join(code.replace("\\\n", "").split())
page = open(src + "/docs/adding-formulations.md", encoding="utf-8").read()
for block in re.findall(r"(?ms)^```c\n(.*?)^```$", page):
    if " ".join(block.split()) not in flat:
        print("not in tests/formulations/euler:", block)
PY
