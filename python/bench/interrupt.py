"""How soon Ctrl-C stops a call: python python/bench/interrupt.py [ROUNDS]

Prints the median and the longest time from the signal to its exception, on the wall clock and of the processor.
"""

import os
import signal
import statistics
import sys
import threading
import time
from collections.abc import Callable

import mbgrad


def interrupted(call: Callable[[], object], after: float) -> tuple[float, float]:
    """Seconds from Ctrl-C to its exception: wall clock, processor."""
    sent: list[tuple[float, float]] = []

    def press() -> None:
        sent.append((time.perf_counter(), time.process_time()))
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, press)
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0][0], time.process_time() - sent[0][1]
    finally:
        timer.join()
    sys.exit("interrupt: the call ended by itself")


def main() -> None:
    """Measure a simulation, a gradient and a search."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    model, design = mbgrad.load("five-bar"), mbgrad.load("five-bar-design")
    run = model.simulate(step=2e-3)
    calls: dict[str, Callable[[], object]] = {
        "simulation": lambda: model.simulate(step=1e-6),
        "gradient": lambda: [run.gradient(method="direct") for _ in range(1000)],
        "search": lambda: [design.optimize() for _ in range(1000)],
    }
    print("call         median [ms]  longest [ms]  of the processor [ms]")
    for name, call in calls.items():
        times = [interrupted(call, 0.1) for _ in range(rounds)]
        wall = [1e3 * t[0] for t in times]
        print(f"{name:<12} {statistics.median(wall):11.1f}  {max(wall):12.1f}  {1e3 * max(t[1] for t in times):21.1f}")


if __name__ == "__main__":
    main()
