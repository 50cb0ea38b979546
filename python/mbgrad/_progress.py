"""Progress of long computations: a callable, or a bar in terminals and notebooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._model import Model

Progress = bool | Callable[[float], Any] | None


class _PlainBar:
    """A bar without tqdm."""

    def __init__(self) -> None:
        self.last = 0.0
        self.shown = False

    def __call__(self, part: float) -> None:
        now = time.monotonic()
        if now - self.last > 0.2:
            self.last, self.shown = now, True
            sys.stderr.write(f"\r{'#' * int(40 * part):<40} {100 * part:3.0f} %")
            sys.stderr.flush()

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\n")


@contextmanager
def fraction_bar(progress: Progress) -> Iterator[Callable[[float], Any] | None]:
    """Lend a function that shows the part that is done, from 0 to 1; None: nothing is to be shown."""
    if progress is None or progress is False:
        yield None
    elif progress is not True:
        if not callable(progress):
            raise TypeError(f"progress: expected True or a callable, not {type(progress).__name__}")
        yield progress
    else:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            bar = _PlainBar()
            try:
                yield bar
            finally:
                bar.close()
            return
        with tqdm(total=1.0, bar_format="{l_bar}{bar}| {elapsed}<{remaining}") as shown:

            def update(part: float) -> None:
                shown.update(part - shown.n)

            yield update


@contextmanager
def run_progress(model: Model, progress: Progress, options: dict[str, Any]) -> Iterator[Callable[[float], Any] | None]:
    """Lend a function of the time that a simulation has reached."""
    if progress is None or progress is False:
        yield None
        return
    section = model.to_dict().get("run", {})
    start = options.get("start") or section.get("start") or 0.0
    end = options.get("end") or section.get("end") or 1.0
    try:
        begin, length = float(start), float(end) - float(start)
    except (TypeError, ValueError):  # an expression
        begin, length = 0.0, 1.0
    with fraction_bar(progress) as bar:
        assert bar is not None

        def show(t: float) -> None:
            bar(min(max((t - begin) / length if length > 0 else 1.0, 0.0), 1.0))

        yield show
        bar(1.0)
