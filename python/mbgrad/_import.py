"""Models from and to files of other programs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ._mbgrad import ffi, lib
from ._native import check, context, doubles, text_of

ENDINGS = (".urdf", ".sdf", ".xml", ".mjcf")


def imported(
    path: str | os.PathLike[str],
    parameters: Iterable[str] = (),
    without: Iterable[str] = (),
    base: str = "fixed",
    keep_fixed: bool = False,
    start: str | None = None,
    contacts: bool = False,
) -> tuple[str, str]:
    """Return the text of the model file and the report of what was left out, approximated or renamed."""
    if base not in ("fixed", "free"):
        raise ValueError(f"base: expected 'fixed' or 'free', not {base!r}")
    options: Any = ffi.new("mbg_import_options *")
    lib.mbg_import_options_default(options, ffi.sizeof("mbg_import_options"))
    words = [ffi.new("char[]", ",".join(w).encode()) for w in (list(parameters), list(without))]
    options.parameters, options.without = words
    key = None if start is None else ffi.new("char[]", start.encode())
    options.start = ffi.NULL if key is None else key
    options.free_base, options.keep_fixed = base == "free", bool(keep_fixed)
    options.contacts = bool(contacts)
    model, report = ffi.new("char **"), ffi.new("char **")
    with context() as ctx:
        check(ctx, lib.mbg_import_file(ctx, os.fsencode(path), options, model, report))
        texts = text_of(model[0]), text_of(report[0])
        lib.mbg_text_destroy(ctx, model[0])
        lib.mbg_text_destroy(ctx, report[0])
    return texts


FORMATS = {".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf"}


def exported(
    compiled: Any, p: Any, path: str | os.PathLike[str], into: str | os.PathLike[str] | None
) -> tuple[str, str]:
    """Return the text of the file and the report of what was left out or approximated."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in FORMATS and into is None:
        raise ValueError(f"{os.fspath(path)}: expected an ending .urdf, or .xml for MJCF")
    options: Any = ffi.new("mbg_export_options *")
    lib.mbg_export_options_default(options, ffi.sizeof("mbg_export_options"))
    words = [ffi.new("char[]", FORMATS.get(ending, "urdf").encode())]
    words.append(ffi.NULL if into is None else ffi.new("char[]", os.fsencode(into)))
    options.format, options.into = words
    text, report = ffi.new("char **"), ffi.new("char **")
    with context() as ctx:
        check(ctx, lib.mbg_export_text(ctx, compiled.c, doubles(p), options, text, report))
        texts = text_of(text[0]), text_of(report[0])
        lib.mbg_text_destroy(ctx, text[0])
        lib.mbg_text_destroy(ctx, report[0])
    return texts
