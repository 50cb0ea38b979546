"""Points on the workers of an executor. Models travel by content: a worker needs the package, and no files."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._compiled import Compiled, evaluate, parse_compiled
from ._errors import Error, InputError
from ._mbgrad import lib
from ._native import FloatArray, IndexArray, Watch, text_of

if TYPE_CHECKING:
    from ._model import Model


class Content(NamedTuple):
    """All that a model consists of."""

    name: str
    text: str
    run: str | None
    folder: str  # of the model, inside a folder with all files
    files: tuple[tuple[str, bytes], ...]
    version: str  # of the program that asks
    key: str


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for v in value.values():
            yield from _texts(v)
    elif isinstance(value, list):
        for v in value:
            yield from _texts(v)


def _named_files(source: Any, base: Path, found: dict[Path, bytes]) -> None:
    """Collect the files that texts of a model name, and those that its parts name."""
    for text in _texts(source):
        try:
            path = Path(os.path.normpath(base / text))
            if not text or path in found or not path.is_file():
                continue
            found[path] = path.read_bytes()
        except (OSError, ValueError):  # a text that is no path
            continue
        if path.suffix == ".json":
            try:
                _named_files(json.loads(found[path]), path.parent, found)
            except ValueError:
                continue


def content_of(model: Model) -> Content:
    """Take a model apart: its text, and every file that it names."""
    base = Path(os.path.normpath(model._base or Path.cwd()))
    found: dict[Path, bytes] = {}
    _named_files(model.to_dict(), base, found)
    top = Path(os.path.commonpath([base, *(p.parent for p in found)]))
    files = tuple((str(p.relative_to(top)), data) for p, data in sorted(found.items()))
    text, folder, version = model.to_json(), str(base.relative_to(top)), text_of(lib.mbg_version())
    key = hashlib.sha256(repr((text, model._run_name, folder, files, version)).encode()).hexdigest()
    return Content(f"<{model.name}>", text, model._run_name, folder, files, version, key)


_models: dict[str, Compiled] = {}


def _compiled(content: Content | str) -> Compiled | None:
    """Return the model of a content, or of its key; a worker makes it once. None: nothing is known of this key."""
    done = _models.get(content if isinstance(content, str) else content.key)
    if done is None and not isinstance(content, str):
        own = text_of(lib.mbg_version())
        if content.version != own:  # results of two versions would meet in one table
            raise InputError(f"executor: a worker has version {own} of mbgrad, this program version {content.version}")
        with tempfile.TemporaryDirectory(prefix="mbgrad-") as top:
            for name, data in content.files:
                path = Path(top, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            base = Path(top, content.folder)
            base.mkdir(parents=True, exist_ok=True)
            done = parse_compiled(content.name, content.text, str(base), content.run)
        if len(_models) >= 8:
            _models.clear()
        _models[content.key] = done
    return done


class Result(NamedTuple):
    """Result of a point: status of its record, criteria, gradients."""

    status: int
    values: FloatArray | None
    gradients: FloatArray | None
    error: Error | None


def compute_point(
    done: Compiled,
    p: FloatArray,
    options: dict[str, Any],
    rows: Sequence[int],
    method: int,
    gradient: bool,
    watch: Watch | None = None,
) -> Result:
    """Simulate a point as by a new run."""
    said: list[bool] = []
    try:
        psi, g = evaluate(done, p, options, rows, method, watch, gradient, said)
    except Error as error:
        return Result(error.status or -2, None, None, error)
    return Result(2 if True in said else 1, psi[rows], None if g is None else g[rows], None)


class Piece(NamedTuple):
    """Results of the points of a task, in arrays: a worker sends few objects instead of many."""

    status: IndexArray  # of records
    values: FloatArray  # NAN: failed
    gradients: FloatArray | None
    errors: dict[int, Error]
    seconds: float


def compute_points(
    content: Content | str, p: FloatArray, options: dict[str, Any], rows: Sequence[int], method: int, gradient: bool
) -> Piece | None:
    """Simulate some points: the task of a worker. None: it needs the content of the model, not its key alone."""
    done = _compiled(content)
    if done is None:
        return None
    began = time.monotonic()
    n, shape = len(p), (len(rows), done.layout.count)
    out = Piece(
        np.zeros(n, dtype=np.intp),
        np.full((n, len(rows)), np.nan),
        np.full((n, *shape), np.nan) if gradient else None,
        {},
        0.0,
    )
    for i, row in enumerate(p):
        result = compute_point(done, row, options, rows, method, gradient)
        out.status[i] = result.status
        if result.error is not None:
            out.errors[i] = result.error
        if result.values is not None:
            out.values[i] = result.values
        if result.gradients is not None and out.gradients is not None:
            out.gradients[i] = result.gradients
    return out._replace(seconds=time.monotonic() - began)


def _result_of(piece: Piece, i: int) -> Result:
    error = piece.errors.get(i)
    if error is not None:
        return Result(int(piece.status[i]), None, None, error)
    return Result(int(piece.status[i]), piece.values[i], None if piece.gradients is None else piece.gradients[i], None)


# ---------------------------------------------------------------------- tasks

# seconds of the shortest and of the longest task; what a worker has in hand is lost when it dies
PLAIN_TASKS = (0.03, 0.7)
DASK_TASKS = (0.06, 1.5)  # a task costs 3.5 ms in client, scheduler and worker
UNKNOWN = 32  # workers of an executor that does not say how many it has
ASK = 10.0  # seconds after which a cluster is asked for its workers again


def _worker_count(executor: Any) -> int:
    """Return how many tasks an executor works on at a time."""
    if hasattr(executor, "nthreads"):  # Dask
        threads: int = sum(executor.nthreads().values())
        return max(1, threads)
    for name in ("_max_workers", "num_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    return UNKNOWN


def _check(executor: Any) -> None:
    """Refuse what is no executor, or one that cannot take tasks from here."""
    if isinstance(executor, type):
        raise TypeError(f"executor: {executor.__name__} is a class; give an object of it")
    if not callable(getattr(executor, "submit", None)):
        hint = "; give a Client of it" if hasattr(executor, "scheduler_address") else ""
        raise TypeError(f"executor: {type(executor).__name__} has no method submit{hint}")
    if hasattr(executor, "nthreads"):  # Dask
        if getattr(executor, "status", None) == "closed":
            raise ValueError("executor: the client of Dask is closed")
        if getattr(executor, "asynchronous", False) is True:
            raise TypeError("executor: the client of Dask is asynchronous; give one with asynchronous=False")


class Tasks:
    """Points on their way to workers and back.

    Each worker has a task and another one that waits, so that no worker waits for this program. Tasks have the longest
    time; the first ones are single points, which tell the time of a point, and the last ones become shorter, so that
    all workers end together. The first tasks bring the model; later ones name it, and a worker that does not know it
    says so.
    """

    def __init__(
        self, executor: Any, content: Content, p: FloatArray, todo: Sequence[int], rest: tuple[Any, ...]
    ) -> None:
        self.executor, self.content, self.p, self.todo, self.rest = executor, content, p, todo, rest
        self.dask = hasattr(executor, "nthreads")
        self.shortest, self.longest = DASK_TASKS if self.dask else PLAIN_TASKS
        self.ended: queue.SimpleQueue[tuple[Any, Sequence[int]]] = queue.SimpleQueue()
        self.futures: set[Any] = set()
        self.first = 0  # point that has not been given away
        self.seconds, self.points = 0.0, 0.0  # of the tasks that have ended, older ones with less weight
        self.workers, self.asked = _worker_count(executor), time.monotonic()

    def _size(self) -> int:
        """Points of the next task."""
        if self.points == 0:
            return 1
        rate = self.points / max(self.seconds, 1e-9)
        share = (len(self.todo) - self.first) // (2 * self.workers)
        return max(1, min(int(self.longest * rate), max(int(self.shortest * rate), share)))

    def _submit(self, content: Content | str, points: Sequence[int]) -> None:
        # Dask would compute the key of a task from its arguments
        extra: dict[str, Any] = {"pure": False} if self.dask else {}
        future = self.executor.submit(compute_points, content, self.p[list(points)], *self.rest, **extra)
        if not hasattr(future, "add_done_callback"):
            who = type(self.executor).__name__
            raise TypeError(f"executor: submit of {who} returned {type(future).__name__}, which is no future")
        self.futures.add(future)
        future.add_done_callback(lambda f: self.ended.put((f, points)))

    def fill(self) -> None:
        """Give away points until every worker has its two tasks."""
        if self.dask and time.monotonic() - self.asked > ASK:  # a cluster may grow
            self.workers, self.asked = _worker_count(self.executor), time.monotonic()
        while self.first < len(self.todo) and len(self.futures) < 2 * self.workers:
            points = self.todo[self.first : self.first + self._size()]
            self.first += len(points)
            self._submit(self.content if self.points == 0 else self.content.key, points)

    def next(self) -> tuple[Sequence[int], Piece]:
        """Wait for a task; others are on their way before it is returned."""
        while True:
            future, points = self.ended.get()
            self.futures.discard(future)
            try:
                piece: Piece | None = future.result()
            except Exception as error:
                # a broken pool has lost all tasks, whichever comes first
                if not isinstance(error, BrokenExecutor):
                    error.add_note(
                        f"The task had point {', '.join(map(str, points[:8]))}{', ...' * (len(points) > 8)}."
                    )
                raise
            if piece is not None:
                break
            self._submit(self.content, points)
        self.seconds, self.points = 0.5 * self.seconds + piece.seconds, 0.5 * self.points + len(points)
        self.fill()
        return points, piece


def spread(
    executor: Any, model: Model, p: FloatArray, todo: Sequence[int], take: Callable[[int, Result], None], *rest: Any
) -> None:
    """Compute points on the workers of an executor, and take each result as it comes."""
    _check(executor)
    tasks = Tasks(executor, content_of(model), p, todo, rest)
    try:
        tasks.fill()
        while tasks.futures:
            points, piece = tasks.next()
            for k, i in enumerate(points):
                take(i, _result_of(piece, k))
    except BaseException:
        for future in tasks.futures:
            future.cancel()
        raise
