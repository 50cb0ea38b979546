"""agree.py MODEL.json TOLERANCE [NAME=VALUE ...]: the formulations agree on the criteria of a model and their gradients.

Every formulation runs with small steps; direct and adjoint of each must agree to 1e-9, values and gradients of all
formulations with lie to TOLERANCE, the gradient of lie with a central difference to 1e-5. NAME=VALUE: what criterion
NAME must be, to TOLERANCE.
"""

import json
import os
import subprocess
import sys

PROGRAM = os.environ["MBGRAD"]
MODEL, TOLERANCE = sys.argv[1], float(sys.argv[2])
KNOWN = {name: float(value) for name, value in (word.split("=") for word in sys.argv[3:])}
WAYS = {"lie": ["--step", "0.0005"], "dae": ["--step", "0.0005"], "ali3p": ["--step", "0.0005"],
        "dca": ["--step", "0.001"], "qr": ["--tolerance", "1e-10"]}


def gradient(formulation, *words):
    """Values and flat gradients, or the message of a failure."""
    done = subprocess.run([PROGRAM, "gradient", MODEL, "--formulation", formulation, *WAYS[formulation], *words,
                           "--no-error-estimate", "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{formulation} {' '.join(words)}: {done.stderr}")
    criteria = json.loads(done.stdout)["criteria"]
    values = {name: c["value"] for name, c in criteria.items()}
    return values, {f"{name} by {p}": d for name, c in criteria.items() for p, d in c["gradient"].items()}


def far(a, b):
    scale = max([abs(x) for x in b.values()] + [1e-30])
    return max(abs(a[key] - b[key]) for key in b) / scale


first = None
for name in WAYS:
    values, direct = gradient(name, "--method", "direct")
    adjoint = gradient(name, "--method", "adjoint")[1]
    gap = far(adjoint, direct)
    print(name, "direct and adjoint agree" if gap < 1e-9 else f"direct and adjoint differ by {gap:.1e}")
    if first:
        gap = max(far(values, first[0]), far(direct, first[1]))
        print(name, "and lie agree" if gap < TOLERANCE else f"and lie differ by {gap:.1e}")
    first = first or (values, direct)
for name, value in KNOWN.items():
    gap = abs(first[0][name] - value) / max(abs(value), 1)
    print(name, f"is {value:g}" if gap < TOLERANCE else f"is {first[0][name]!r}, not {value:g}")
nominal = json.load(open(MODEL))["parameters"]
for p, value in nominal.items():
    h = 1e-4 * max(abs(value), 1e-3)
    up, down = (gradient("lie", "--set", f"{p}={value + s * h!r}")[0] for s in (1, -1))
    slope = {f"{name} by {p}": (up[name] - down[name]) / (2 * h) for name in up}
    gap = far({key: first[1][key] for key in slope}, slope)
    print(p, "difference quotient agrees" if gap < 1e-5 else f"difference quotient differs by {gap:.1e}")
