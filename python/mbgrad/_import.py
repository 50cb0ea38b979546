"""Models from files of other programs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ._mbgrad import ffi, lib
from ._native import check, context, text_of

ENDINGS = (".urdf", ".sdf", ".xml", ".mjcf")


def imported(
    path: str | os.PathLike[str],
    parameters: Iterable[str] = (),
    without: Iterable[str] = (),
    base: str = "fixed",
    keep_fixed: bool = False,
) -> tuple[str, str]:
    """Return the text of the model file and the report of what was left out, approximated or renamed."""
    if base not in ("fixed", "free"):
        raise ValueError(f"base: expected 'fixed' or 'free', not {base!r}")
    options: Any = ffi.new("mbg_import_options *")
    lib.mbg_import_options_default(options, ffi.sizeof("mbg_import_options"))
    words = [ffi.new("char[]", ",".join(w).encode()) for w in (list(parameters), list(without))]
    options.parameters, options.without = words
    options.free_base, options.keep_fixed = base == "free", bool(keep_fixed)
    model, report = ffi.new("char **"), ffi.new("char **")
    with context() as ctx:
        check(ctx, lib.mbg_import_file(ctx, os.fsencode(path), options, model, report))
        texts = text_of(model[0]), text_of(report[0])
        lib.mbg_text_destroy(ctx, model[0])
        lib.mbg_text_destroy(ctx, report[0])
    return texts
