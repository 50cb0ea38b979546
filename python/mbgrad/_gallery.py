"""Ready models."""

from __future__ import annotations

import os
from pathlib import Path

from . import _mbgrad
from ._errors import FileError
from ._native import did_you_mean


def data_folder() -> Path:
    """Return the folder of program and gallery: beside the module, also of an editable installation."""
    return Path(_mbgrad.__file__).parent


def gallery_folder() -> Path:
    """Return the folder of the gallery: ``MBGRAD_GALLERY``, else the one of the package."""
    own = os.environ.get("MBGRAD_GALLERY")
    return Path(own) if own else data_folder() / "share" / "mbgrad" / "gallery"


def gallery() -> list[str]:
    """Return the names of the models of the gallery; ``load(name)`` loads one."""
    folder = gallery_folder()
    if not folder.is_dir():
        return []
    return sorted(p.parent.name for p in folder.glob("*/model.json"))


def find_model(name: str | os.PathLike[str]) -> Path:
    """Find a model: a file, a folder with model.json, or a name of the gallery."""
    path = Path(name)
    if path.is_dir():
        if not (path / "model.json").exists():
            raise FileError(f"the folder '{path}' holds no model.json")
        return path / "model.json"
    if path.exists():
        return path
    inside = gallery_folder() / path / "model.json"
    if len(path.parts) == 1 and inside.exists():
        return inside
    names = gallery()
    hint = did_you_mean(str(name), names) if did_you_mean(str(name), names).startswith("; did") else ""
    raise FileError(
        f"no model '{name}': neither a file nor a folder nor in the gallery{hint or ' (mbgrad.gallery() lists it)'}"
    )
