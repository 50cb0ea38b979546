"""The way into C: contexts with their messages, interruption, options, numbers."""

from __future__ import annotations

import importlib
import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._errors import (
    ConvergenceError,
    Error,
    FileError,
    InputError,
    MbgradWarning,
    Message,
    SingularError,
    UnsupportedError,
)
from ._mbgrad import ffi, lib

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

_DOUBLES = ffi.typeof("double[]")

log = logging.getLogger("mbgrad")

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
MAIN_THREAD = threading.main_thread().ident
_SEVERITY = {lib.MBG_NOTE: "note", lib.MBG_WARNING: "warning", lib.MBG_ERROR: "error"}
_ERRORS: dict[int, type[Error]] = {
    lib.MBG_ERROR_INPUT: InputError,
    lib.MBG_ERROR_IO: FileError,
    lib.MBG_ERROR_SINGULAR: SingularError,
    lib.MBG_ERROR_CONVERGENCE: ConvergenceError,
    lib.MBG_ERROR_UNSUPPORTED: UnsupportedError,
}


def text_of(c: Any) -> str:
    """Return a C text; "" for NULL."""
    return ffi.string(c).decode("utf-8", "replace") if c else ""


# ---------------------------------------------------------------------- contexts and messages

_contexts = threading.local()


def take_context() -> Any:
    """Take a context out of the thread's stock; a call inside a callback gets another one."""
    try:
        return _contexts.free.pop()
    except AttributeError:
        _contexts.free = []
    except IndexError:
        pass
    return new_context()


def new_context() -> Any:
    """Make a context."""
    out = ffi.new("mbg_context **")
    if lib.mbg_context_create(ffi.NULL, out) < 0:
        raise MemoryError("out of memory")
    return ffi.gc(out[0], lib.mbg_context_destroy)


def give_context(ctx: Any) -> None:
    """Put a context back into the stock."""
    lib.mbg_context_clear(ctx)
    _contexts.free.append(ctx)


@contextmanager
def context() -> Iterator[Any]:
    """Lend a context."""
    ctx = take_context()
    try:
        yield ctx
    finally:
        give_context(ctx)


def messages_of(ctx: Any) -> tuple[Message, ...]:
    """Take the messages out of a context."""
    count = lib.mbg_context_message_count(ctx)
    if count == 0:
        return ()
    messages = tuple(
        Message.parse(_SEVERITY[lib.mbg_context_message_severity(ctx, i)], text_of(lib.mbg_context_message(ctx, i)))
        for i in range(count)
    )
    lib.mbg_context_clear(ctx)
    return messages


def warn(text: str) -> None:
    """Warn at the first line outside of the package."""
    import sys

    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, MbgradWarning, stacklevel=level)


def error_of(status: int, messages: tuple[Message, ...]) -> BaseException:
    """Make the exception of a status."""
    if status == lib.MBG_ERROR_MEMORY:
        return MemoryError(next((m.text for m in messages if m.severity == "error"), "out of memory"))
    if status == lib.MBG_ERROR_INTERRUPTED:
        return KeyboardInterrupt()
    errors = [m.text for m in messages if m.severity == "error"] or [text_of(lib.mbg_status_text(status))]
    return _ERRORS.get(status, Error)("\n".join(errors), messages, status)


def check(ctx: Any, status: int, watch: Watch | None = None) -> None:
    """Raise the error of a call, and warn of its warnings."""
    if watch is not None and watch.c.stopped:
        lib.mbg_context_clear(ctx)
        raise watch.reason()
    if status >= 0 and lib.mbg_context_message_count(ctx) == 0:
        return
    messages = messages_of(ctx)
    for m in messages:
        if m.severity == "warning":
            warn(m.text)
        elif m.severity == "note":
            log.info("%s", m.text)
    if status < 0:
        raise error_of(status, messages)


def take_text(ctx: Any, status: int, text: Any) -> str:
    """Take over a text that a function handed out."""
    check(ctx, status)
    try:
        return text_of(text[0])
    finally:
        lib.mbg_text_destroy(ctx, text[0])


def take_bytes(ctx: Any, status: int, data: Any, length: Any) -> bytes:
    """Take over bytes that a function handed out."""
    check(ctx, status)
    try:
        return bytes(ffi.buffer(data[0], length[0]))
    finally:
        lib.mbg_text_destroy(ctx, data[0])


# ---------------------------------------------------------------------- interruption and progress


class _Owner:
    """What callbacks need; apart from the watch, so that the handle in C makes no cycle of references."""

    __slots__ = ("exception", "progress", "state")

    def __init__(self, progress: Callable[[float], Any] | None, state: Callable[[Any], Any] | None) -> None:
        self.progress = progress
        self.state = state
        self.exception: BaseException | None = None


class Watch:
    """Watches one computation: signals such as Ctrl-C, progress, and a stop from another thread."""

    __slots__ = ("__weakref__", "c", "handle", "inner", "owner")

    def __init__(
        self,
        progress: Callable[[float], Any] | None = None,
        state: Callable[[Any], Any] | None = None,
    ) -> None:
        self.c = ffi.new("mbg_py_watch *")
        self.owner = _Owner(progress, state)
        self.handle = ffi.new_handle(self.owner)
        self.c.owner = self.handle
        self.inner: Watch | None = None  # of a run that is used again
        self.begin()

    def begin(self) -> None:
        """Get ready for a computation of this thread."""
        c, owner = self.c, self.owner
        c.cancel = 0
        c.stopped = 0
        owner.exception = None
        # only the main thread is told about signals
        c.poll = owner.progress is not None or owner.state is not None or threading.get_ident() == MAIN_THREAD
        c.next = time.monotonic() + 0.02

    def cancel(self) -> None:
        """Stop the computation, from any thread."""
        self.c.cancel = 1
        if self.inner is not None:
            self.inner.cancel()

    @property
    def exception(self) -> BaseException | None:
        """The exception that a callback raised."""
        return self.owner.exception

    def reason(self) -> BaseException:
        """Return what stopped the computation."""
        return self.owner.exception or KeyboardInterrupt()


def _failed(kind: Any, value: BaseException, traceback: Any) -> None:
    owner = traceback.tb_frame.f_locals["owner"]
    ffi.from_handle(owner).exception = value


# entering Python lets it handle signals: the exception of Ctrl-C arises in here
@ffi.def_extern(error=1, onerror=_failed)  # type: ignore[untyped-decorator, unused-ignore]
def mbg_py_poll(owner: Any, t: float) -> int:
    """Handle signals and show progress."""
    progress = ffi.from_handle(owner).progress
    if progress is not None:
        progress(t)
    return 0


def _state(owner: Any, state: Any) -> int:
    shown = ffi.from_handle(owner).state
    return 2 if shown is not None and shown(state) is True else 0


for _name in ("mbg_py_optimize_state", "mbg_py_identify_state", "mbg_py_control_state"):
    ffi.def_extern(name=_name, error=1, onerror=_failed)(_state)


# ---------------------------------------------------------------------- optional packages


def need(module: str, what: str) -> Any:
    """Import an optional package, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        if error.name is not None and error.name.split(".")[0] != package:
            raise  # it is there, but does not work
        raise ImportError(f"{what} needs the package {package}: pip install {package}", name=package) from None


# ---------------------------------------------------------------------- names and numbers


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Return a hint at the nearest name, or at all of them."""
    near = max(names, key=lambda n: SequenceMatcher(None, n.lower(), name.lower()).ratio(), default="")
    if SequenceMatcher(None, near.lower(), name.lower()).ratio() >= 0.5:
        return f"; did you mean '{near}'?"
    if not names:
        return "; there is none"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"; there is {shown}" if len(names) == 1 else f"; there are {shown}"


def number(name: str, value: Any) -> float:
    """Check a finite number."""
    kind = type(value)
    if kind is float and isfinite(value):
        return value  # type: ignore[no-any-return]
    if kind is int and -(2**53) < value < 2**53:
        return float(value)
    if isinstance(value, (str, bytes, bool)) or (np.ndim(value) != 0):
        raise TypeError(f"{name}: expected a number, not {_shown(value)}")
    try:
        x = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, not {_shown(value)}") from None
    if not np.isfinite(x):
        raise ValueError(f"{name}: {x} is not a finite number")
    return x


def numbers(name: str, values: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Check an array of finite numbers of a given shape; C-contiguous."""
    x = real_array(name, values)
    if x.shape != shape and not (shape == () and x.size == 1):
        raise ValueError(f"{name}: expected an array of shape {shape}, not {np.shape(values)}")
    if b"\0" in np.isfinite(x).tobytes():  # quicker than all()
        raise ValueError(f"{name}: not all numbers are finite")
    return x


def real_array(name: str, values: Any) -> FloatArray:
    """Check an array of real numbers; C-contiguous."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.flags.c_contiguous:
        return values
    try:
        if isinstance(values, (str, bytes)) or np.iscomplexobj(values):
            raise TypeError
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected an array of real numbers, not {_shown(values)}") from None


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"


def doubles(array: FloatArray) -> Any:
    """Return the pointer to the numbers of a contiguous array."""
    return ffi.from_buffer(_DOUBLES, array)


# ---------------------------------------------------------------------- options

# options of a run as the header lists them, without those that the package sets itself
_OWN = {
    "size",
    "all_signals",
    "keep_poses",
    "interrupt",
    "progress",
    "user",
    "criteria_only",
    "node",
    "node_user",
}
RUN_OPTIONS: dict[str, str] = {
    name: field.type.cname for name, field in ffi.typeof("mbg_run_options").fields if name not in _OWN
}


def set_option(c: Any, kinds: dict[str, str], name: str, value: Any, keep: list[Any]) -> None:
    """Set a field of an options structure, after its kind."""
    kind = kinds[name]
    if kind == "char *":
        if not isinstance(value, (str, os.PathLike)):
            raise TypeError(f"{name}: expected a text, not {_shown(value)}")
        text = ffi.new("char[]", os.fsencode(value))
        keep.append(text)
        setattr(c, name, text)
    elif kind in ("int", "unsigned int"):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"{name}: expected a whole number, not {_shown(value)}")
        try:
            setattr(c, name, int(value))
        except OverflowError:
            raise ValueError(f"{name}: {value} is out of range") from None
    elif kind == "_Bool":
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name}: expected True or False, not {_shown(value)}")
        setattr(c, name, bool(value))
    else:
        setattr(c, name, number(name, value))


class RunOptions:
    """Options of a run in C, with all that they refer to."""

    __slots__ = ("c", "keep", "watch")

    def __init__(self, settings: dict[str, Any], watch: Watch, poses: bool = False, signals: bool = False) -> None:
        self.c = ffi.new("mbg_run_options *")
        self.keep: list[Any] = []
        self.watch = watch
        lib.mbg_run_options_default(self.c, ffi.sizeof("mbg_run_options"))
        for name, value in settings.items():
            if value is not None:
                set_option(self.c, RUN_OPTIONS, name, value, self.keep)
        self.c.keep_poses = poses
        self.c.all_signals = signals
        lib.mbg_py_watch_run(self.c, watch.c)


METHODS: dict[str, int] = {text_of(lib.mbg_method_name(i)): i for i in range(lib.MBG_METHOD_COUNT)}


def method_index(method: str) -> int:
    """Return the number of a method of differentiation."""
    try:
        return METHODS[method]
    except (KeyError, TypeError):
        pass
    if not isinstance(method, str):
        raise TypeError(f"method: expected a text, not {_shown(method)}")
    raise InputError(f"no method '{method}'{did_you_mean(method, list(METHODS))}")
