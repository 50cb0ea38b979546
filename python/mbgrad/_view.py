"""Pages that show a motion in a browser."""

from __future__ import annotations

import html
import os
import pathlib
import tempfile
import webbrowser


class Page:
    """A motion as one HTML file: notebooks show it, ``save`` writes it, ``open`` shows it in a browser."""

    __slots__ = ("html", "name")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.html = text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        pathlib.Path(path).write_text(self.html, encoding="utf-8")

    def open(self) -> None:
        """Show the page in the default browser, from a temporary file."""
        with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="mbgrad-", delete=False, encoding="utf-8") as file:
            file.write(self.html)
        webbrowser.open(pathlib.Path(file.name).as_uri())

    def _repr_html_(self) -> str:
        text, title = (html.escape(x, quote=True) for x in (self.html, self.name))
        return f'<iframe srcdoc="{text}" style="width:100%;height:640px;border:0" title="{title}"></iframe>'

    def __repr__(self) -> str:
        return f"<Page of '{self.name}', {len(self.html) / 1000:.0f} kB>"
