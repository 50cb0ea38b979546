"""Ratios of CPU times of mbgrad and other programs on the same mechanisms: bench/peers/run."""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import math
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import five_bar
import numpy as np
import planar
import rods

import mbgrad

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "peers"


@dataclass
class Way:
    """One program's way to a result: ``go`` returns the CPU seconds it took; ``value`` what it found."""

    name: str
    go: Callable[[], float]
    value: Callable[[], np.ndarray]


@dataclass
class Row:
    """Ratio of one way to the first of its case, over repetitions in turn."""

    case: str
    name: str
    seconds: float
    ratio: float
    low: float
    high: float
    far: float


def timed(function: Callable[[], object]) -> tuple[float, object]:
    """CPU time of this process in a call, and its result."""
    begin = time.process_time()
    result = function()
    return time.process_time() - begin, result


def calls(function: Callable[[], object], count: int = 1) -> Way:
    """A way that is a Python call, the shortest of ``count`` in a row; its name is given later."""
    kept: list[np.ndarray] = []

    def go() -> float:
        spent, result = min((timed(function) for _ in range(count)), key=lambda x: x[0])
        kept[:] = [np.atleast_1d(np.asarray(result, dtype=float))]
        return spent

    return Way("", go, lambda: kept[0])


def named(name: str, way: Way) -> Way:
    way.name = name
    return way


def compare(case: str, ways: list[Way], repeat: int, agree: float) -> list[Row]:
    """Runs the ways in turn. All must give the value of the first to the relative difference ``agree``."""
    times: list[list[float]] = [[] for _ in ways]
    for _ in range(repeat + 1):
        for k, way in enumerate(ways):
            times[k].append(way.go())
    first = ways[0].value()
    rows = []
    for k, way in enumerate(ways):
        spent = times[k][1:]  # the first round warms caches
        ratios = [a / b for a, b in zip(spent, times[0][1:], strict=True)]
        far = float(np.max(np.abs(way.value() - first)) / np.max(np.abs(first)))
        if not far <= agree:
            sys.exit(f"{case}: {way.name} is {far:.2g} away from {ways[0].name}, more than {agree:.2g}")
        rows.append(
            Row(case, way.name, statistics.median(spent), statistics.median(ratios), min(ratios), max(ratios), far)
        )
        print(text(rows[-1]), flush=True)
    return rows


def text(row: Row) -> str:
    """One line of the table."""
    spread = f"{row.low:.2f} to {row.high:.2f}"
    return (
        f"{row.case:34} {row.name:34} {1e3 * row.seconds:10.3f} ms {row.ratio:8.2f}  ({spread})  differs {row.far:.1g}"
    )


# ---------------------------------------------------------------------------- gradient of the five-bar


ROW = 10  # calls of a program in a row, the shortest of which counts: caches and predictions of branches are warm


class Sundials:
    """The program five_bar.c for one number of parameters."""

    def __init__(self, count: int) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        five_bar.write(FOLDER, count)
        self.program = FOLDER / f"five_bar_{count}"
        self.parameters = five_bar.parameters(count)
        libraries = ["cvodes", "idas", "nvecserial", "sunmatrixdense", "sunlinsoldense", "sunnonlinsolfixedpoint"]
        source = Path(__file__).with_name("five_bar.c")
        link = [f"-lsundials_{name}" for name in libraries]
        subprocess.run(
            ["cc", "-O3", "-DNDEBUG", f"-I{FOLDER}", str(source), "-o", str(self.program), *link, "-lm"], check=True
        )

    def run(self, solver: str, tolerance: float, turn: int = 0) -> tuple[float, np.ndarray]:
        command = [str(self.program), solver, repr(tolerance), str(ROW) if turn == 0 else "1"]
        values = " ".join(repr(float(p) * (1 + 1e-15 * turn)) for p in self.parameters)
        out = subprocess.run(command, input=values, capture_output=True, text=True, check=True).stdout
        times, _, gradient = json.loads(out)
        return min(times), np.array(gradient)

    def way(self, solver: str, tolerance: float) -> Way:
        kept: list[np.ndarray] = []

        def go() -> float:
            spent, gradient = self.run(solver, tolerance)
            kept[:] = [gradient]
            return spent

        return Way(solver, go, lambda: kept[0])


class Own:
    """The program five_bar_mbgrad.c for one number of parameters: in C, as the others are."""

    def __init__(self, count: int) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.program, self.model = FOLDER / "five_bar_mbgrad", FOLDER / f"five_bar_{count}.json"
        self.model.write_text(json.dumps(five_bar.model(count)))
        source = Path(__file__).with_name("five_bar_mbgrad.c")
        build = ROOT / "build"
        include = [f"-I{ROOT / 'include'}", f"-I{build / 'include'}"]
        library = [f"-L{build}", "-lmbgrad", f"-Wl,-rpath,{build}"]
        subprocess.run(["cc", "-O3", "-DNDEBUG", *include, str(source), "-o", str(self.program), *library], check=True)

    def way(self, tolerance: float, integrator: str | None = None) -> Way:
        command = [str(self.program), str(self.model), repr(tolerance), str(ROW), *([integrator] if integrator else [])]
        kept: list[np.ndarray] = []

        def go() -> float:
            times, _, gradient = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            kept[:] = [np.array(gradient)]
            return min(times)

        return Way("", go, lambda: kept[0])


CALLS = 8  # of one tolerance, with parameters that differ by rounding: the worst error counts


def crossing(error: Callable[[float], float], aim: float) -> float:
    """The tolerance at which the line of log error over log tolerance meets the aim.

    The line has least squares over the tolerances 10^-k/8 of two decades, around the one where the errors of tenfold
    ones pass the aim. A program whose error jumps from one tolerance to the next is judged by its trend, not by a
    tolerance that it was lucky, or unlucky, with.
    """
    middle = next((k for k in range(4, 13) if error(10.0**-k) <= aim), None)
    if middle is None:
        sys.exit("no tolerance reaches the accuracy")
    powers = np.arange(-8 * middle - 4, -8 * middle + 13) / 8
    errors = [math.log10(error(float(10**x))) for x in powers]
    slope, at = np.polyfit(powers, errors, 1)
    return float(10 ** ((math.log10(aim) - at) / slope))


def mbgrad_gradient(model: mbgrad.Model, tolerance: float, **options: object) -> Callable[[], np.ndarray]:
    """Simulation and gradient of a kept run; the parameters change by a rounding so that nothing is remembered."""
    function = model.function("psi", formulation="qr", tolerance=tolerance, **options)
    turn = [0]

    def call() -> np.ndarray:
        turn[0] += 1
        return np.asarray(function.value_and_grad(function.x0 * (1 + 1e-15 * turn[0]))[1])

    return call


def five_bar_gradients(repeat: int, quick: bool) -> list[Row]:
    """Gradients with a relative error of 1e-6, which each program reaches at a tolerance of its own."""
    rows = []
    for count in (2, 20) if quick else (2, 20, 200):
        model = mbgrad.load(five_bar.model(count))
        exact = np.asarray(model.grad("psi", formulation="qr", tolerance=1e-12))
        peer, program = Sundials(count), Own(count)

        def far(gradient: np.ndarray, exact: np.ndarray = exact) -> float:
            return float(np.max(np.abs(gradient - exact)) / np.max(np.abs(exact)))

        def own(tolerance: float, model: mbgrad.Model = model, **options: object) -> float:
            call = mbgrad_gradient(model, tolerance, **options)
            return max(far(call()) for _ in range(CALLS))

        def hand(tolerance: float, solver: str, peer: Sundials = peer) -> float:
            return max(far(peer.run(solver, tolerance, turn)[1]) for turn in range(1, CALLS + 1))

        ways = []
        for name, options in (("mbgrad qr", {}), ("CVODES, general equations", {"integrator": "adams"})):
            tolerance = crossing(partial(own, **options), 1e-6)
            ways.append(named(f"{name}, {tolerance:.1e}", program.way(tolerance, **options)))
        for solver in ("cvodes", "idas"):
            tolerance = crossing(partial(hand, solver=solver), 1e-6)
            ways.append(named(f"{solver.upper()}, equations by hand, {tolerance:.1e}", peer.way(solver, tolerance)))
        rows += compare(f"five-bar gradient, np {count}", ways, repeat, 1e-5)
    return rows


# ---------------------------------------------------------------------------- simulations beside Exudyn


def alpha(name: str, model: dict, peer: Callable[[], float], signal: str, repeat: int, agree: float) -> list[Row]:
    """lie and ali3p beside Exudyn at the same steps."""

    def own(formulation: str) -> Callable[[], float]:
        data = json.loads(json.dumps(model))
        data["run"]["formulation"] = formulation
        if formulation != "lie":
            data["run"].pop("rho_inf", None)
        loaded = mbgrad.load(data)

        def turned() -> float:
            values = loaded.simulate(poses=False)[signal]
            return float(values[-1] - values[0])

        return turned

    ways = [named("mbgrad lie", calls(own("lie"))), named("mbgrad ali3p", calls(own("ali3p")))]
    ways.append(named("Exudyn, modified Newton", calls(peer)))
    return compare(name, ways, repeat, agree)


def rods_alpha(repeat: int, quick: bool) -> list[Row]:
    """Windows and planar chains: 400 steps of 1 ms. The schemes are of second order: they agree to about 1e-5."""
    rows = []
    sizes = [("windows", rods.windows, n) for n in (10, 40, 160)] + [("chain", rods.chain, n) for n in (16, 64, 256)]
    for name, make, count in sizes:
        if quick and count > 40:
            continue
        mechanism = make(count)
        model = rods.model(mechanism, 0.4, 1e-3, "lie")
        peer = rods.exudyn(mechanism, 0.4, 1e-3)
        rows += alpha(f"{name} of {count}, 400 steps", model, peer, "y", repeat, 1e-5)
    return rows


def gallery_alpha(repeat: int, quick: bool) -> list[Row]:
    """Models of the gallery that Exudyn's elements can hold."""
    rows = []
    cases = [("slider-crank", "crank", "q", 10.0, 0.005, 1e-3), ("andrews", "K1", "beta", 0.03, 1e-5, 1e-3)]
    for name, body, signal, end, step, agree in cases[: 1 if quick else 2]:
        model = mbgrad.load(name).to_dict()
        model["run"] = {"formulation": "lie", "end": end, "step": step, "rho_inf": 0.8}
        peer = planar.exudyn(model, body, rods.alpha_settings(end, step))
        rows += alpha(f"{name}, {round(end / step)} steps", model, peer, signal, repeat, agree)
    pendulum = rods.chain(1)
    peer = rods.exudyn(pendulum, 10, 1e-3)
    rows += alpha("pendulum, 10000 steps", rods.model(pendulum, 10, 1e-3, "lie"), peer, "y", repeat, 1e-3)
    return rows


# ---------------------------------------------------------------------------- chains beside Pinocchio and MuJoCo


def evaluations(count: int) -> dict[str, float]:
    """Seconds of one evaluation and one adjoint of dca by bench/dca."""
    out = subprocess.run(
        [str(ROOT / "build" / "bench" / "dca"), "count", "chain", str(count)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {name: 1e-6 * float(value) for name, value in re.findall(r"(evaluation|adjoint) ([0-9.]+)", out)}


def chain_model(count: int, masses: int = 1) -> mbgrad.Model:
    """The chain that ``mbgrad new`` writes."""
    command = [str(ROOT / "build" / "mbgrad"), "new", "chain", str(FOLDER / "chain"), "--bodies", str(count)]
    subprocess.run([*command, "--masses", str(masses), "--force"], check=True, capture_output=True)
    return mbgrad.load(FOLDER / "chain" / "model.json")


def chain_accelerations(count: int, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Accelerations of the joints by dca at a state, for the comparison of values."""
    data = chain_model(count).to_dict()
    joints = [f"j{i}" for i in range(count)]
    data["initial"] = {
        "pin": {
            joint: {"joint": joint, "coordinate": "angle", "value": float(q[i]), "rate": float(v[i])}
            for i, joint in enumerate(joints)
        }
    }
    data["signals"] |= {
        f"a{i}": {"type": "coordinate-acceleration", "joint": joint, "coordinate": "angle"}
        for i, joint in enumerate(joints)
    }
    data["run"] = {"formulation": "dca", "end": 1e-6, "step": 1e-6}
    run = mbgrad.load(data).simulate(poses=False)
    return np.array([run[f"a{i}"][0] for i in range(count)])


def chain_dynamics(repeat: int, quick: bool) -> list[Row]:
    """Forward dynamics of spatial chains at one state, and their derivatives."""
    import mujoco
    import pinocchio as pin

    rows = []
    for count in (16, 64) if quick else (16, 64, 256):
        model = rods.pinocchio(count)
        data = model.createData()
        generator = np.random.default_rng(1)
        spread = 1 if count < 100 else 0.2  # mbgrad assembles the state from the straight chain
        q, v = generator.uniform(-spread, spread, count), generator.uniform(-1, 1, count)
        tau = np.zeros(count)
        other = mujoco.MjModel.from_xml_string(rods.mjcf(count, 1e-3))
        state = mujoco.MjData(other)
        state.qpos[:], state.qvel[:] = q, v
        times = 2000 if count < 100 else 300

        def many(call: Callable[[], object], times: int = times) -> Callable[[], float]:
            def go() -> float:
                begin = time.process_time()
                for _ in range(times):
                    call()
                return (time.process_time() - begin) / times

            return go

        def accelerations(
            model: object = model, data: object = data, q: np.ndarray = q, v: np.ndarray = v, tau: np.ndarray = tau
        ) -> np.ndarray:
            return np.array(pin.aba(model, data, q, v, tau))

        first = chain_accelerations(count, q, v)
        ways = [
            Way("mbgrad dca", lambda n=count: evaluations(n)["evaluation"], lambda f=first: f),
            Way("Pinocchio aba", many(accelerations), accelerations),
            Way(
                "MuJoCo mj_forward",
                many(lambda m=other, s=state: mujoco.mj_forward(m, s)),
                lambda s=state: np.array(s.qacc),
            ),
        ]
        # MuJoCo factorizes the mass matrix, whose condition grows with the fourth power of the length
        rows += compare(f"chain of {count}, forward dynamics", ways, repeat, 1e-9 if count < 100 else 1e-7)
        ways = [
            Way("mbgrad dca, adjoint", lambda n=count: evaluations(n)["adjoint"], lambda f=first: f),
            Way(
                "Pinocchio computeABADerivatives",
                many(partial(pin.computeABADerivatives, model, data, q, v, tau), times // 10),
                accelerations,
            ),
        ]
        rows += compare(f"chain of {count}, derivatives", ways, repeat, 1e-9)
    return rows


def mujoco_differences(count: int, steps: int) -> tuple[Callable[[], np.ndarray], Callable[[], float]]:
    """Gradient of the height of the second rod's end by all masses: forward differences of MuJoCo's RK4."""
    import mujoco
    from mujoco import rollout

    model = mujoco.MjModel.from_xml_string(rods.mjcf(count, 1e-3))
    body = model.body(2).id
    inertia = model.body_inertia.copy()
    start = np.zeros((1, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    data = mujoco.MjData(model)

    def height() -> float:
        rollout.rollout(model, data, start, nstep=steps)
        mujoco.mj_kinematics(model, data)
        return float(data.xpos[body][2] + data.xmat[body][6])

    def gradient() -> np.ndarray:
        base, slopes = height(), []
        for i in range(1, count + 1):
            delta = 1e-6
            model.body_mass[i] += delta
            model.body_inertia[i] = inertia[i] * (1 + delta)
            slopes.append((height() - base) / delta)
            model.body_mass[i] -= delta
            model.body_inertia[i] = inertia[i]
        return np.array(slopes)

    return gradient, height


def chain_gradient(repeat: int, quick: bool) -> list[Row]:
    """Gradient of a chain of 16 by its 16 masses, 500 steps of 1 ms (Runge-Kutta of order 4 in both)."""
    count, steps = 16, 100 if quick else 500
    data = chain_model(count, count).to_dict()
    del data["criteria"]["path"]  # an integral, which nobody asks for
    model = mbgrad.load(data)
    names = [f"m[{i}]" for i in range(count)]
    function = model.function("drop", wrt=names, end=1e-3 * steps, step=1e-3)
    turn = [0]

    def own() -> np.ndarray:
        turn[0] += 1
        return np.asarray(function.value_and_grad(function.x0 * (1 + 1e-15 * turn[0]))[1])

    peer, _ = mujoco_differences(count, steps)
    ways = [named("mbgrad dca, adjoint", calls(own)), named("MuJoCo, forward differences", calls(peer))]
    return compare(f"chain of {count}, gradient by {count} masses", ways, repeat, 1e-3)


# ---------------------------------------------------------------------------- the table

CASES = {
    "five-bar": five_bar_gradients,
    "gallery": gallery_alpha,
    "rods": rods_alpha,
    "dynamics": chain_dynamics,
    "gradient": chain_gradient,
}


def machine() -> str:
    """Processor, date and versions."""
    cpu = next(
        (s.split(":")[1].strip() for s in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in s), ""
    )
    packages = ", ".join(f"{n} {importlib.metadata.version(n)}" for n in ("casadi", "exudyn", "mujoco", "pin"))
    sundials = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}", "libsundials-dev"], capture_output=True, text=True
    ).stdout.split("+")[0]
    today = datetime.date.today().isoformat()
    versions = f"mbgrad {mbgrad.__version__}, {packages}, SUNDIALS {sundials}"
    return f"{cpu or platform.machine()}, one thread, {today}; {versions}"


def markdown(rows: list[Row], repeat: int) -> str:
    """The table of docs/performance.md."""
    lines = [
        machine() + f"; medians of {repeat} repetitions in turn.",
        "",
        "| case | program | CPU time | ratio | spread |",
        "|---|---|---|---|---|",
    ]
    last = ""
    for row in rows:
        case = row.case if row.case != last else ""
        last = row.case
        lines.append(
            f"| {case} | {row.name} | {1e3 * row.seconds:.3g} ms | {row.ratio:.2f} | {row.low:.2f} to {row.high:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table")
    args = parser.parse_args()
    unknown = [c for c in args.cases if c not in CASES]
    if unknown:
        parser.error(f"unknown case {', '.join(unknown)}; known: {', '.join(CASES)}")
    rows = [row for name in args.cases or CASES for row in CASES[name](args.repeat, args.quick)]
    if args.markdown:
        args.markdown.write_text(markdown(rows, args.repeat))


if __name__ == "__main__":
    main()
