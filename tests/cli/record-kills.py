"""Sweeps that record their results are killed (-9) at random and resumed: the table is that of a sweep without kills.

usage: record-kills.py PROGRAM KILLS POINTS [ENGINE...]; engines: jobs, shards, mpi
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

PROGRAM, KILLS, POINTS = sys.argv[1], int(sys.argv[2]), sys.argv[3]
SWEEP = ["sweep", "quarter-car-design", "--random", POINTS, "--vary", "k", "--vary", "c", "--end", "0.4"]


def jobs(folder):
    return [[PROGRAM, *SWEEP, "--jobs", "2", "--records", folder, "--resume", "--out", folder + ".csv"]]


def shards(folder):
    parts = [[PROGRAM, *SWEEP, "--records", folder, "--resume", "--shard", f"{i}/4"] for i in range(1, 5)]
    return [*parts, [PROGRAM, "merge", folder, "--out", folder + ".csv"]]


def mpi(folder):
    run = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", "4"]
    return [[*run, PROGRAM + "-mpi", *SWEEP, "--records", folder, "--resume", "--out", folder + ".csv"]]


def killed(command, after):
    """Start a command, kill it and its children; was it still at work?"""
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(after)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True


def check(engine):
    """Kill until it is enough, then let it end; True: the table is the same."""
    commands, done, took = engine(engine.__name__), 0, 0.0
    longest = max(0.1, seconds * 2 / max(1, KILLS))
    while done < KILLS:
        for command in commands:
            if done < KILLS:
                began = time.time()
                done += killed(command, random.uniform(0, longest))
                took += time.time() - began
        if engine is not mpi and took > 20 * seconds:  # finished before it was killed often enough: once more
            shutil.rmtree(engine.__name__, ignore_errors=True)
            took = 0
    for command in commands:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open("whole.csv", "rb") as a, open(engine.__name__ + ".csv", "rb") as b:
        return a.read() == b.read()


random.seed(1)
began = time.time()
subprocess.run([PROGRAM, *SWEEP, "--out", "whole.csv"], check=True)
seconds = time.time() - began
for name in sys.argv[4:]:
    print(name, "killed as often as asked:", "the same table" if check(globals()[name]) else "ANOTHER TABLE", flush=True)
