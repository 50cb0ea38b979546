"""Results of points in a folder of records, as ``mbgrad sweep --records`` writes them (docs/scale.md)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._compiled import Compiled
from ._mbgrad import ffi, lib
from ._native import FloatArray, RunOptions, Watch, check, context, doubles


class Recording:
    """A folder that the program reads and writes, too."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        done: Compiled,
        options: dict[str, Any],
        base: FloatArray,
        points: FloatArray,
        inputs: Sequence[str],
        outputs: Sequence[str],
    ) -> None:
        self.folder = os.fsdecode(folder)
        if "\0" in self.folder:
            raise ValueError("records: the name of the folder has a NUL")
        with context() as ctx:
            identity = ffi.new("char[]", lib.MBG_RECORDS_IDENTITY_SIZE)
            numbers = np.concatenate([base, points.ravel()])
            settings = RunOptions(options, Watch())
            check(ctx, lib.mbg_records_identity(ctx, done.c, settings.c, len(numbers), doubles(numbers), identity))
            texts = [ffi.new("char[]", t.encode()) for t in ("sweep", done.name, *inputs, *outputs)]
            names = ffi.new("char *[]", texts[2:])
            plan = ffi.new("mbg_records_plan *")
            plan.kind, plan.model, plan.identity = texts[0], texts[1], identity
            plan.point_count, plan.input_count, plan.output_count = len(points), len(inputs), len(outputs)
            plan.inputs, plan.outputs = names, names + len(inputs)
            out = ffi.new("mbg_records **")
            check(ctx, lib.mbg_records_create(ctx, os.fsencode(folder), plan, out))
            self.c = ffi.gc(out[0], lib.mbg_records_destroy)
        self.inputs, self.width = len(inputs), len(inputs) + len(outputs)

    @property
    def missing(self) -> list[int]:
        """Points without a record."""
        n = lib.mbg_records_get_plan(self.c).point_count
        if lib.mbg_records_get_summary(self.c).missing == 0:
            return []
        return [i for i in range(n) if lib.mbg_records_status(self.c, i) == 0]

    def result(self, point: int) -> tuple[int, FloatArray]:
        """Return status and outputs of a point that has a record."""
        row = lib.mbg_records_row(self.c, point)
        numbers = np.frombuffer(ffi.buffer(row, 8 * self.width), dtype=np.float64).copy()
        return lib.mbg_records_status(self.c, point), numbers[self.inputs :]

    def add(self, point: int, status: int, inputs: FloatArray, outputs: FloatArray | None) -> None:
        """Append a result."""
        row = np.concatenate([inputs, np.zeros(self.width - self.inputs) if outputs is None else outputs])
        with context() as ctx:
            check(ctx, lib.mbg_records_add(ctx, self.c, point, status, doubles(row)))

    def sync(self) -> None:
        """Force the records to the disk."""
        with context() as ctx:
            check(ctx, lib.mbg_records_sync(ctx, self.c))
