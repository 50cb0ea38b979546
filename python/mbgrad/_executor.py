"""Points on the workers of an executor. Models travel by content: a worker needs the package, and no files."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ._compiled import Compiled, evaluate, parse_compiled
from ._errors import Error
from ._native import FloatArray, Watch

if TYPE_CHECKING:
    from ._model import Model


class Content(NamedTuple):
    """All that a model consists of."""

    name: str
    text: str
    run: str | None
    folder: str  # of the model, inside a folder with all files
    files: tuple[tuple[str, bytes], ...]
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
    text, folder = model.to_json(), str(base.relative_to(top))
    key = hashlib.sha256(repr((text, model._run_name, folder, files)).encode()).hexdigest()
    return Content(f"<{model.name}>", text, model._run_name, folder, files, key)


_models: dict[str, Compiled] = {}


def _compiled(content: Content) -> Compiled:
    """Return the model of a content; a worker makes it once."""
    done = _models.get(content.key)
    if done is None:
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


def compute_points(
    content: Content, p: FloatArray, options: dict[str, Any], rows: Sequence[int], method: int, gradient: bool
) -> list[Result]:
    """Simulate some points: the task of a worker."""
    done = _compiled(content)
    return [compute_point(done, row, options, rows, method, gradient) for row in p]


def spread(
    executor: Any, model: Model, p: FloatArray, todo: Sequence[int], take: Callable[[int, Result], None], *rest: Any
) -> None:
    """Compute points on the workers of an executor, and take each result as it comes."""
    if not hasattr(executor, "submit"):
        raise TypeError(f"executor: {type(executor).__name__} has no method submit")
    content = content_of(model)
    size = max(1, min(64, len(todo) // 100))  # points of a task: a task of Dask costs some 8 ms
    pieces = [todo[i : i + size] for i in range(0, len(todo), size)]
    ended: queue.SimpleQueue[tuple[Any, Sequence[int]]] = queue.SimpleQueue()
    futures = []
    for piece in pieces:
        future = executor.submit(compute_points, content, p[list(piece)], *rest)
        future.add_done_callback(lambda f, points=piece: ended.put((f, points)))
        futures.append(future)
    try:
        for _ in futures:
            future, piece = ended.get()
            for i, result in zip(piece, future.result(), strict=True):
                take(i, result)
    except BaseException:
        for future in futures:
            future.cancel()
        raise
