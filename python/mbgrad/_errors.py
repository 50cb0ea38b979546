"""Errors and warnings: what the library says, as Python expects it."""

from __future__ import annotations

import dataclasses
import re
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """One message of the library.

    Attributes
    ----------
    severity : str
        ``"note"``, ``"warning"`` or ``"error"``.
    text : str
        The whole message, with its place.
    file, line, column : str or None, int or None, int or None
        Place in a model file, when the message has one.
    """

    severity: str
    text: str
    file: str | None = None
    line: int | None = None
    column: int | None = None

    _PLACE = re.compile(r"(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): ", re.S)

    @classmethod
    def parse(cls, severity: str, text: str) -> Message:
        """Take the place in a file from the beginning of a text."""
        place = cls._PLACE.match(text)
        if place is None:
            return cls(severity, text)
        return cls(severity, text, place["file"], int(place["line"]), int(place["column"]))


class Error(Exception):
    """A failure that the library reports; base class of all of them.

    Attributes
    ----------
    messages : tuple of Message
        Every message of the failed call. A model file has all its errors in one exception.
    file, line, column : str or None, int or None, int or None
        Place of the first error in a model file. Of a model built in code it is the place in ``model.to_json()``.
    status : int
        Status code of the C library.
    """

    status: int = 0

    def __init__(self, text: str, messages: tuple[Message, ...] = (), status: int = 0) -> None:
        super().__init__(text)
        self.messages = messages
        self.status = status
        first = next((m for m in messages if m.severity == "error"), None)
        self.file = first.file if first else None
        self.line = first.line if first else None
        self.column = first.column if first else None

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.args[0], self.messages, self.status))


class InputError(Error, ValueError):
    """A model, an option or an argument is wrong."""


class FileError(Error, OSError):
    """A file cannot be read or written."""

    def __str__(self) -> str:
        return str(self.args[0])


class SingularError(Error, ArithmeticError):
    """A system of equations is singular: the mechanism locks or has a freedom without inertia."""


class ConvergenceError(Error, ArithmeticError):
    """An iteration did not converge; a smaller step may help."""


class UnsupportedError(Error, NotImplementedError):
    """The formulation or method does not do what was asked for; the message names one that does."""


class MbgradWarning(UserWarning):
    """A result that is probably not what was meant: steps that are too long, a start that had to be moved, ..."""
