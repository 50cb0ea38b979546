"""Loops over independent computations in threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from ._native import Watch


def worker_count(workers: int | None, tasks: int) -> int:
    """Return how many threads to take."""
    if workers is None:
        workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    elif isinstance(workers, bool) or not isinstance(workers, int):
        raise TypeError(f"workers: expected a whole number, not {type(workers).__name__} {workers!r}")
    elif workers < 1:
        raise ValueError(f"workers: {workers} threads; expected 1 or more")
    return max(1, min(workers, tasks))


def parallel(
    tasks: int,
    workers: int | None,
    work: Callable[[int, Watch], None],
    progress: Callable[[float], Any] | None = None,
) -> None:
    """Call work(task, watch) for every task; an exception, Ctrl-C among them, stops all and is raised here."""
    count = worker_count(workers, tasks)
    if count == 1:
        watch = Watch()
        for task in range(tasks):
            watch.begin()
            work(task, watch)
            if progress is not None:
                progress((task + 1) / tasks)
        return
    lock, stop = threading.Lock(), threading.Event()
    watches: list[Watch] = []
    failures: list[BaseException] = []
    state = {"next": 0, "done": 0}

    def loop() -> None:
        watch = Watch()
        watches.append(watch)
        while not stop.is_set():
            with lock:
                task = state["next"]
                state["next"] += 1
            if task >= tasks:
                return
            watch.begin()
            if stop.is_set():
                return
            try:
                work(task, watch)
            except BaseException as error:
                failures.append(error)
                stop.set()
                return
            with lock:
                state["done"] += 1

    threads = [threading.Thread(target=loop, name=f"mbgrad-{i}", daemon=True) for i in range(count)]
    try:  # Ctrl-C may come while the threads start
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.05)
                if progress is not None:
                    progress(state["done"] / tasks)
    except BaseException:
        stop.set()
        while any(thread.is_alive() for thread in threads):
            for watch in watches:  # again and again: a thread may just begin its next task
                watch.cancel()
            for thread in threads:
                thread.join(0.01)
        raise
    if failures:
        raise failures[0]
