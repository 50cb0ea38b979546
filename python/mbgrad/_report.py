"""Reports, which the program of the package writes."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._errors import Error, InputError
from ._gallery import data_folder
from ._native import FloatArray
from ._view import Page

if TYPE_CHECKING:
    from ._model import Model

# options of a run that the program has
OPTIONS = ("formulation", "integrator", "step", "tolerance", "accuracy", "end", "threads", "memory")


@contextmanager
def _file(model: Model) -> Iterator[Path]:
    """Give the file of a model; one that has none, or was changed, is written for a moment beside its data."""
    if model._path is not None:
        yield Path(model._path)
        return
    data = {"name": model.name, **model.to_dict()}
    handle, name = tempfile.mkstemp(suffix=".json", prefix=".mbgrad-", dir=model._base)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(data, file)
        yield Path(name)
    finally:
        os.unlink(name)


def _call(
    model: Model, command: str, p: FloatArray, options: Mapping[str, Any], arguments: Sequence[str], what: str
) -> str:
    """Run a command of the program on a model with these parameters, and return what it prints."""
    done = model._compile()
    program = data_folder() / "bin" / "mbgrad"
    if not program.exists():
        raise Error(f"the program is missing: {program}; install the package again")
    settings = list(arguments)
    for name, value in options.items():
        if name not in OPTIONS:
            raise TypeError(f"{what} takes no option '{name}'; it takes {', '.join(OPTIONS)}")
        settings.append(f"--{name}={value}")
    settings += [f"--set={name}={float(p[i])!r}" for name, i in done.layout.entries.items() if p[i] != done.nominal[i]]
    if model.run_name is not None:
        settings.append(f"--run={model.run_name}")
    with _file(model) as path:
        arguments = [str(program), command, *settings, "--", str(path)]
        out = subprocess.run(arguments, capture_output=True, encoding="utf-8", check=False)
        message = out.stderr.replace(str(path), f"<{model.name}>").strip()
    if out.returncode != 0:
        message = message.replace("mbgrad: error: ", "") or f"the program ended with status {out.returncode}"
        raise InputError(message) if out.returncode == 2 else Error(message)
    return out.stdout


def make_report(
    model: Model, p: FloatArray, options: Mapping[str, Any], flags: Sequence[str], criteria: Sequence[str] | None
) -> Page:
    """Let the program write the report, and read it."""
    arguments = ["--out", "-", "--quiet", *flags]
    if criteria is not None:
        arguments.append(f"--criteria={','.join(criteria)}")
    return Page(model._compile().name, _call(model, "report", p, options, arguments, "a report"))


def make_picture(
    model: Model,
    path: str | os.PathLike[str],
    p: FloatArray,
    options: Mapping[str, Any],
    *,
    film: bool,
    frames: int | None,
    at: float | None,
    eye: tuple[float, float] | None,
) -> None:
    """Let the program draw the model, still or in motion, into a file."""
    arguments = ["--quiet", f"--{'film' if film else 'picture'}={os.fspath(path)}"]
    arguments += [f"--frames={frames}"] * (frames is not None) + [f"--at={at!r}"] * (at is not None)
    if eye is not None:
        arguments.append(f"--eye={float(eye[0])!r},{float(eye[1])!r}")
    _call(model, "view", p, options, arguments, "a film" if film else "a picture")
