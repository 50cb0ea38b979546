"""Many runs at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ._compiled import evaluate
from ._errors import Error, InputError
from ._native import FloatArray, Watch, method_index, need, number, numbers, real_array
from ._parallel import parallel
from ._progress import Progress, fraction_bar

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
    else:
        index = np.arange(done.layout.count) if names is None else done.layout.subset(names)[0]
        given = real_array("parameters", parameters)
        if given.ndim != 2 or given.shape[1] != len(index):
            raise ValueError(f"parameters: expected an array of shape (sets, {len(index)}), not {given.shape}")
        if not np.isfinite(given).all():
            raise ValueError("parameters: not all numbers are finite")
        p = np.tile(base, (len(given), 1))
        p[:, index] = given
    n = len(p)
    out = np.full((n, len(rows)), np.nan)
    gradients = np.full((n, len(rows), len(index)), np.nan) if gradient else None
    errors: list[Error | None] = [None] * n

    def work(i: int, watch: Watch) -> None:
        try:
            psi, g = evaluate(done, p[i], options, rows, number_of_method, watch, gradient)
        except Error as error:
            errors[i] = error
            return
        out[i] = psi[rows]
        if gradients is not None and g is not None:
            gradients[i] = g[rows][:, index]

    with fraction_bar(progress) as bar:
        parallel(n, workers, work, bar)
    entries = list(done.layout.entries)
    return Batch(p, [done.criteria[k] for k in rows], [entries[i] for i in index], out, gradients, errors)


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


class Table(Mapping[str, Any]):
    """Rows of a sweep by columns: parameters, criteria, ``dpsi/dk1``, ``status``; ``to_pandas()`` makes a frame."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        rows = len(next(iter(self._columns.values()), []))
        return f"<Table of {rows} rows: {', '.join(self._columns)}>"

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
) -> Table:
    """Evaluate a grid of parameters."""
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
    points = {name: g.ravel() for name, g in zip(axes, grid, strict=True)}
    result = batch(model, points, criteria, list(axes), gradient, method, workers, progress, rest)
    columns: dict[str, Any] = dict(points)
    for k, name in enumerate(result.criteria):
        columns[name] = result.values[:, k]
        if result.gradients is not None:
            for j, parameter in enumerate(result.wrt):
                columns[f"d{name}/d{parameter}"] = result.gradients[:, k, j]
    columns["status"] = ["ok" if e is None else str(e).split("\n")[0] for e in result.errors]
    return Table(columns)
