#!/usr/bin/env python3
"""How good the estimated errors of the steps are.

    bench/step_errors.py [--program build/mbgrad] [--jobs N] MODEL...

For every model and criterion: the estimate of `mbgrad gradient` against the true error, the distance from a limit that
runs with ever finer steps approach (at least 16 times finer, extrapolated), or from `--formulation qr --tolerance
1e-12` where the model runs there. Prints one line per number and a summary.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

FLOOR = 1e-9  # relative errors below this are rounding of the runs compared


@dataclass
class Line:
    model: str
    number: str
    estimate: float
    true: float
    warned: bool


def gradient(program: str, model: str, *options: str, timeout: float = 600) -> dict | None:
    """Return the JSON of `mbgrad gradient`, or None when it fails."""
    try:
        done = subprocess.run([program, "gradient", model, "--json", *options], capture_output=True, text=True,
                              timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout) if done.returncode == 0 else None


def flat(value: object) -> list[float]:
    """Return a parameter's entries as a list."""
    entries = value if isinstance(value, list) else [value]
    return [math.nan if x is None else x for x in entries]


def part(error: float, size: float) -> float:
    """Return the error as a part of a size; below 1e-12 of nothing it is rounding."""
    if error == 0 or (size == 0 and error < 1e-12):
        return 0.0
    return error / size if size > 0 else math.inf


def relative(run: dict, criterion: str, limit: dict) -> tuple[float, float]:
    """Return the relative errors of value and gradient, measured as mbgrad/error.h says."""
    c, exact = run["criteria"][criterion], limit["criteria"][criterion]
    size = {n: [abs(x) or 1 for x in flat(p)] for n, p in run["parameters"].items()}
    effects = {n: [s * abs(g) for s, g in zip(size[n], flat(c["gradient"][n]))] for n in size}
    largest = max((max(e) for e in effects.values()), default=0)
    off = abs(c["value"] - exact["value"])
    scale = max(abs(c["value"]), largest)
    worst = 0.0
    for n in size:
        d = max(s * abs(a - b) for s, a, b in zip(size[n], flat(c["gradient"][n]), flat(exact["gradient"][n])))
        base = max(max(effects[n]), 0.1 * largest, 1e-10 * abs(c["value"]))
        worst = max(worst, part(d, base))
    return part(off, scale), worst


def between(fine: dict, finer: dict, factor: float) -> dict:
    """Return finer + (finer - fine)/(factor - 1)."""
    limit = {"criteria": {}}
    for name, c in finer["criteria"].items():
        old = fine["criteria"][name]
        g = {n: [y + (y - x) / (factor - 1) for x, y in zip(flat(old["gradient"][n]), flat(p))]
             for n, p in c["gradient"].items()}
        limit["criteria"][name] = {"value": c["value"] + (c["value"] - old["value"]) / (factor - 1), "gradient": g}
    return limit


def steps_limit(program: str, model: str, step: float, options: list[str]) -> dict | None:
    """Return the limit of runs with finer steps."""
    runs = [gradient(program, model, *options, "--step", repr(step / n), "--no-error-estimate") for n in (16, 32)]
    return between(runs[0], runs[1], 4) if all(runs) else None


def study(program: str, model: str, options: list[str], reference: str) -> list[Line] | None:
    """Return the lines of a model, None when it cannot be judged."""
    run = gradient(program, model, *options)
    if not run or not run.get("error"):
        return None
    limit = None
    if reference != "steps":
        limit = gradient(program, model, "--formulation", "qr", "--tolerance", "1e-12", "--no-error-estimate",
                         timeout=120)
    if not limit and "step" in run["error"]:
        limit = steps_limit(program, model, run["error"]["step"], options)
    if not limit:
        return None
    lines = []
    for name, c in run["criteria"].items():
        true = relative(run, name, limit)
        for what, t, e in zip(("value", "gradient"), true, (c["error"]["value_relative"],
                                                          c["error"]["gradient_relative"])):
            lines.append(Line(model, f"{name} {what}", math.nan if e is None else e, t, not c["error"]["regular"]))
    return lines


def verdict(x: Line) -> tuple[bool, bool]:
    """Print the line of a number; return whether the estimate is within a factor of 3, and whether it is far too low."""
    small = max(x.true, x.estimate) < FLOOR
    ratio = 1.0 if small else x.estimate / x.true if x.true > 0 else math.inf
    good, low = 1 / 3 <= ratio <= 3, ratio < 0.1 and not x.warned
    mark = "" if good else "  LOW" if low else "  low" if ratio < 1 else "  high"
    warned = "guess" if x.warned else ""
    print(f"{x.model}\t{x.number}\t{x.estimate:.2e}\t{x.true:.2e}\t{ratio:.2g}\t{warned}{mark}", flush=True)
    return good, low


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--program", default="build/mbgrad")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--reference", choices=("qr", "steps"), default="qr", help="the limit to compare with")
    parser.add_argument("--option", action="append", default=[], help="a further word for every run")
    args = parser.parse_args()
    within = under = judged = 0
    skipped = []
    with ThreadPoolExecutor(args.jobs) as pool:
        jobs = [(m, pool.submit(study, args.program, m, args.option, args.reference)) for m in args.models]
        for model, job in jobs:
            found = job.result()
            if not found:
                skipped.append(model)
            for line in found or []:
                good, low = verdict(line)
                within, under, judged = within + good, under + low, judged + 1
    print(f"{judged} numbers of {len(args.models) - len(skipped)} models: {within} within a factor of 3 "
          f"({100 * within / max(judged, 1):.1f} %), {under} below a tenth without a warning; "
          f"not judged: {' '.join(skipped) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
