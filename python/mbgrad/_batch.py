"""Many runs at once."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ._compiled import Compiled
from ._ensemble import GROUP, check_settings, compute_ensemble
from ._errors import Error, InputError
from ._executor import Result, compute_point, spread
from ._mbgrad import lib
from ._native import FloatArray, Watch, method_index, need, number, numbers, real_array, text_of
from ._parallel import parallel
from ._progress import Progress, fraction_bar
from ._recording import Recording

if TYPE_CHECKING:
    from ._model import Model


@dataclasses.dataclass(slots=True)
class Batch:
    """Results of many parameter sets; rows of sets that failed are NAN.

    Attributes
    ----------
    parameters : numpy.ndarray, (sets, parameters)
        All parameters of the model, in their order.
    criteria, wrt : list of str
        Names of the columns of `values`, and of the last dimension of `gradients`.
    values : numpy.ndarray, (sets, criteria)
    gradients : numpy.ndarray, (sets, criteria, parameters of `wrt`), or None
    errors : list of Error or None
        Why a set failed; None for one that did not.
    """

    parameters: FloatArray = dataclasses.field(repr=False)
    criteria: list[str]
    wrt: list[str]
    values: FloatArray = dataclasses.field(repr=False)
    gradients: FloatArray | None = dataclasses.field(repr=False)
    errors: list[Error | None] = dataclasses.field(repr=False)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, criterion: str) -> FloatArray:
        """Values of a criterion (sets)."""
        if criterion not in self.criteria:
            raise KeyError(f"no criterion '{criterion}'; there is {', '.join(self.criteria)}")
        return self.values[:, self.criteria.index(criterion)]

    @property
    def failed(self) -> list[int]:
        """Indices of the sets that failed."""
        return [i for i, e in enumerate(self.errors) if e is not None]


def batch(
    model: Model,
    parameters: ArrayLike | Mapping[str, ArrayLike],
    criteria: str | Sequence[str] | None,
    wrt: str | Sequence[str] | None,
    gradient: bool,
    method: str,
    workers: int | None,
    progress: Progress,
    settings: dict[str, Any],
    executor: Any = None,
    records: str | os.PathLike[str] | None = None,
    ensemble: bool = False,
) -> Batch:
    """Run many parameter sets."""
    done = model._compile()
    rows, number_of_method = done.criteria_indices(criteria), method_index(method)
    values, options = done.split(settings)
    base = done.vector(None, values)
    names = None if wrt is None else [wrt] if isinstance(wrt, str) else list(wrt)
    if isinstance(parameters, Mapping):
        if names is None:
            names = list(parameters)
        p = _from_columns(model, parameters, base)
        index = done.layout.subset(names)[0]
        if records is not None and names != list(parameters):
            raise ValueError("records: they have derivatives by the parameters that differ; leave out wrt")
    else:
        index = np.arange(done.layout.count) if names is None else done.layout.subset(names)[0]
        given = real_array("parameters", parameters)
        if given.ndim != 2 or given.shape[1] != len(index):
            raise ValueError(f"parameters: expected an array of shape (sets, {len(index)}), not {given.shape}")
        if not np.isfinite(given).all():
            raise ValueError("parameters: not all numbers are finite")
        p = np.tile(base, (len(given), 1))
        p[:, index] = given
    entries = list(done.layout.entries)
    chosen, by = [done.criteria[k] for k in rows], [entries[i] for i in index]
    n = len(p)
    out = np.full((n, len(rows)), np.nan)
    gradients = np.full((n, len(rows), len(index)), np.nan) if gradient else None
    result = Batch(p, chosen, by, out, gradients, [None] * n)
    if records is not None and n == 0:
        raise ValueError("records: there are no points")
    if records is not None and number_of_method != method_index("auto"):
        raise ValueError("records: the method of differentiation is that of the program, auto")
    recording = records if records is None else _recording(records, done, options, base, result, index, model)
    todo: Sequence[int] = range(n)
    if recording is not None:
        todo = recording.missing
        _take_recorded(recording, result, todo)
    task = (options, rows, number_of_method, gradient)
    if ensemble:
        if executor is not None:
            raise ValueError("ensemble: points go to threads of this program; leave out executor")
        check_settings(done, options, number_of_method)
    with fraction_bar(progress) as bar:
        _run(model, result, index, todo, workers, bar, executor, recording, task, ensemble)
    if recording is not None:
        recording.sync()
    return result


def _outputs(result: Batch) -> list[str]:
    """Names of the columns of a table after the parameters, in the order of the program."""
    slopes = [f"d{c}/d{p}" for c in result.criteria for p in result.wrt] if result.gradients is not None else []
    return [*result.criteria, *slopes]


def _recording(
    folder: str | os.PathLike[str],
    done: Compiled,
    options: dict[str, Any],
    base: FloatArray,
    result: Batch,
    index: Any,
    model: Model,
) -> Recording:
    points = np.ascontiguousarray(result.parameters[:, index])
    return Recording(folder, done, options, base, points, result.wrt, _outputs(result))


def _take_recorded(recording: Recording, result: Batch, missing: Sequence[int]) -> None:
    """Fill in what was recorded before."""
    nc, absent = len(result.criteria), set(missing)
    for i in range(len(result)):
        if i in absent:
            continue
        status, row = recording.result(i)
        if status < 0:
            result.errors[i] = Error(text_of(lib.mbg_status_text(status)), (), status)
            continue
        result.values[i] = row[:nc]
        if result.gradients is not None:
            result.gradients[i] = row[nc:].reshape(nc, -1)


def _run(
    model: Model,
    result: Batch,
    index: Any,
    todo: Sequence[int],
    workers: int | None,
    bar: Any,
    executor: Any,
    recording: Recording | None,
    task: tuple[dict[str, Any], Sequence[int], int, bool],
    ensemble: bool,
) -> None:
    done, lock = model._compile(), threading.Lock()
    finished = 0

    def take(i: int, r: Result) -> None:
        result.errors[i] = r.error
        outputs = None
        if r.values is not None:
            result.values[i] = r.values
            outputs = r.values
        if r.gradients is not None and result.gradients is not None:
            result.gradients[i] = r.gradients[:, index]
            outputs = np.concatenate([result.values[i], result.gradients[i].ravel()])
        if recording is not None:
            with lock:
                recording.add(i, r.status, result.parameters[i, index], outputs)

    def taken(i: int, r: Result) -> None:
        nonlocal finished
        take(i, r)
        finished += 1
        if bar is not None:
            bar(finished / len(todo))

    options, rows, method, gradient = task
    if executor is not None:
        try:
            spread(executor, model, result.parameters, todo, taken, options, rows, method, gradient)
        except BaseException as error:
            there = f"{len(result) - len(todo) + finished} of {len(result)} points"
            if recording is not None:
                error.add_note(f"{there} are recorded in '{recording.folder}'; the same call computes the others.")
            elif finished > 0:
                error.add_note(f"{there} were computed; with records=FOLDER the same call would compute the others.")
            raise
        return

    def work_together(k: int, watch: Watch) -> None:
        points = list(todo[k * GROUP : (k + 1) * GROUP])
        results = compute_ensemble(done, result.parameters[points], options, rows, gradient, watch)
        for i, r in zip(points, results, strict=True):
            take(i, r)

    if ensemble:
        parallel(-(-len(todo) // GROUP), workers, work_together, bar)
        return

    def work(k: int, watch: Watch) -> None:
        i = todo[k]
        take(i, compute_point(done, result.parameters[i], options, rows, method, gradient, watch))

    parallel(len(todo), workers, work, bar)


def _from_columns(model: Model, columns: Mapping[str, ArrayLike], base: FloatArray) -> FloatArray:
    layout = model._compile().layout
    lengths = {np.shape(v)[0] for v in columns.values() if np.ndim(v) > 0}
    if len(lengths) > 1:
        raise ValueError(f"parameters: the columns have different lengths: {sorted(lengths)}")
    n = lengths.pop() if lengths else 1
    p = np.tile(base, (n, 1))
    for name, column in columns.items():
        try:
            place = layout.place(name)
        except KeyError as error:
            raise InputError(str(error.args[0])) from None
        if np.ndim(column) == 0:
            p[:, place] = number(name, column)
        elif isinstance(place, slice):
            p[:, place] = numbers(name, column, (n, place.stop - place.start))
        else:
            p[:, place] = numbers(name, column, (n,))
    return p


def _csv_name(name: str) -> str:
    quoted = name.replace('"', '""')
    return f'"{quoted}"' if any(c in name for c in ',"\n') else name


class Table(Mapping[str, Any]):
    """Rows of a sweep by columns: parameters, criteria, ``dpsi/dk1``, ``status``; ``to_pandas()`` makes a frame."""

    def __init__(self, columns: dict[str, Any], order: Sequence[str] | None = None) -> None:
        self._columns = columns
        self._order = list(order) if order is not None else [name for name in columns if name != "status"]

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        rows = len(next(iter(self._columns.values()), []))
        return f"<Table of {rows} rows: {', '.join(self._columns)}>"

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table as ``mbgrad sweep --out FILE.csv`` does, byte for byte."""
        columns, status = [self._columns[name] for name in self._order], self._columns["status"]
        lines = [",".join([*(_csv_name(name) for name in self._order), "status"])]
        for k, said in enumerate(status):
            cells = ["" if np.isnan(column[k]) else f"{column[k]:.17g}" for column in columns]
            lines.append(",".join([*cells, "ok" if said == "ok" else "failed"]))
        beside = Path(f"{os.fspath(path)}.{os.getpid()}.tmp")
        try:
            beside.write_text("\n".join(lines) + "\n", encoding="utf-8")
            beside.replace(path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame."""
        pandas = need("pandas", "table.to_pandas()")
        return pandas.DataFrame(self._columns)


def sweep(
    model: Model,
    vary: dict[str, ArrayLike],
    criteria: str | Sequence[str] | None,
    gradient: bool,
    method: str,
    workers: int | None,
    progress: Progress,
    settings: dict[str, Any],
    points: Mapping[str, ArrayLike] | None,
    executor: Any,
    records: str | os.PathLike[str] | None,
    ensemble: bool,
) -> Table:
    """Evaluate a grid of parameters, or a list of points."""
    places = _points(model, points) if points is not None else {}
    twice = [name for name in settings if name in places]
    if twice:
        raise ValueError(f"{twice[0]}: it is a column of points already; leave out its value")
    if points is None:
        places, settings = _grid(model, vary, settings)
    elif vary:
        raise ValueError("points: they are a list already; leave out the grid")
    result = batch(
        model,
        places,
        criteria,
        list(places),
        gradient,
        method,
        workers,
        progress,
        settings,
        executor,
        records,
        ensemble,
    )
    columns: dict[str, Any] = dict(places)
    for k, name in enumerate(result.criteria):
        columns[name] = result.values[:, k]
        if result.gradients is not None:
            for j, parameter in enumerate(result.wrt):
                columns[f"d{name}/d{parameter}"] = result.gradients[:, k, j]
    columns["status"] = ["ok" if e is None else str(e).split("\n")[0] for e in result.errors]
    return Table(columns, [*places, *_outputs(result)])


def _points(model: Model, points: Mapping[str, ArrayLike]) -> dict[str, FloatArray]:
    """Columns of the points, one parameter each."""
    layout, columns = model._compile().layout, {}
    if not hasattr(points, "items"):  # a dictionary, or a frame of pandas
        raise TypeError(f"points: expected lists by the names of parameters, not {type(points).__name__}")
    for name, value in points.items():
        if not isinstance(name, str):
            raise TypeError(f"points: expected names of parameters, not {name!r}")
        try:
            place = layout.place(name)
        except KeyError as error:
            raise InputError(str(error.args[0])) from None
        if isinstance(place, slice):
            raise InputError(f"'{name}' is a vector: give its entries, as '{name}[1]'")
        columns[name] = numbers(name, value, np.shape(value))
    if not columns or {c.ndim for c in columns.values()} != {1} or len({len(c) for c in columns.values()}) != 1:
        raise ValueError("points: expected lists of one length, one for each parameter")
    return columns


def _grid(
    model: Model, vary: dict[str, ArrayLike], settings: dict[str, Any]
) -> tuple[dict[str, FloatArray], dict[str, Any]]:
    """Columns of all points of a grid, and the other settings."""
    done = model._compile()
    rest: dict[str, Any] = {}
    for name, value in settings.items():
        scalar = done.layout.groups.get(name, (0, 1))[1] == 0
        if scalar and np.ndim(value) == 1 and not isinstance(value, str):
            vary[name] = value
        else:
            rest[name] = value
    if not vary:
        raise InputError("no parameter is varied: give a list of values, as in sweep(k1=[80, 120])")
    axes = {}
    for name, value in vary.items():
        if isinstance(done.layout.subset([name])[1].place(name), slice):
            raise InputError(f"'{name}' is a vector: vary one of its entries, as '{name}[1]'")
        axes[name] = numbers(name, value, np.shape(value))
        if axes[name].ndim != 1:
            raise ValueError(f"{name}: expected a list of values, not an array of shape {axes[name].shape}")
    grid = np.meshgrid(*axes.values(), indexing="ij")
    return {name: np.ascontiguousarray(g.ravel()) for name, g in zip(axes, grid, strict=True)}, rest
