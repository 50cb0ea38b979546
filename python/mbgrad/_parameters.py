"""Values that belong to the parameters of a model, by name and as one vector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ._errors import InputError
from ._native import FloatArray, IndexArray, did_you_mean


class Layout:
    """Names of the parameters and their places in the parameter vector."""

    __slots__ = ("count", "entries", "groups")

    def __init__(self, groups: dict[str, tuple[int, int]], entries: list[str]) -> None:
        self.groups = groups  # name -> first, count; count 0: a scalar
        self.entries = {name: i for i, name in enumerate(entries)}
        self.count = len(entries)

    def place(self, name: str) -> int | slice:
        """Return the index of a scalar or of an entry, the slice of a vector."""
        group = self.groups.get(name)
        if group is not None:
            first, count = group
            return first if count == 0 else slice(first, first + count)
        entry = self.entries.get(name)
        if entry is None:
            raise KeyError(f"no parameter '{name}'{did_you_mean(name, list(self.groups))}")
        return entry

    def subset(self, names: list[str]) -> tuple[IndexArray, Layout]:
        """Return the indices of some parameters, and the layout of a vector of these alone."""
        index: list[int] = []
        entries = list(self.entries)
        groups: dict[str, tuple[int, int]] = {}
        for name in names:
            if name in groups:
                raise ValueError(f"parameter '{name}' is named twice")
            try:
                place = self.place(name)
            except KeyError as error:
                raise InputError(str(error.args[0])) from None
            if isinstance(place, slice):
                groups[name] = (len(index), place.stop - place.start)
                index.extend(range(place.start, place.stop))
            else:
                groups[name] = (len(index), 0)
                index.append(place)
        return np.array(index, dtype=np.intp), Layout(groups, [entries[i] for i in index])


class Parameters(Mapping[str, "float | FloatArray"]):
    """Numbers of the parameters: their values, or derivatives by them.

    A mapping from names to numbers; vectors are arrays, ``"rho[3]"`` is one entry. ``numpy.asarray`` gives the whole
    vector.

    Attributes
    ----------
    array : numpy.ndarray
        All numbers in the order of the model.
    names : list of str
        Name of each number, entries of vectors apart.
    """

    __slots__ = ("_layout", "array")

    def __init__(self, layout: Layout, array: FloatArray) -> None:
        self._layout = layout
        self.array = array

    @property
    def names(self) -> list[str]:
        """Name of each number of the vector."""
        return list(self._layout.entries)

    def __getitem__(self, name: str) -> float | FloatArray:
        place = self._layout.place(name)
        value = self.array[place]
        return value if isinstance(place, slice) else value.item()

    def __iter__(self) -> Iterator[str]:
        return iter(self._layout.groups)

    def __len__(self) -> int:
        return len(self._layout.groups)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if dtype is not None and np.dtype(dtype) != self.array.dtype:
            return self.array.astype(dtype)
        return self.array.copy() if copy else self.array

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Parameters):
            return self.names == other.names and bool(np.array_equal(self.array, other.array, equal_nan=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        items = [f"{name}={np.array2string(np.asarray(value), threshold=6)}" for name, value in self.items()]
        if sum(map(len, items)) < 100:
            return f"Parameters({', '.join(items)})"
        return "Parameters(\n    " + ",\n    ".join(items) + ",\n)"
