"""A model as the library holds it: immutable, shared by everything that is computed from it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from threading import get_ident
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._errors import InputError
from ._mbgrad import ffi, lib
from ._native import (
    MAIN_THREAD,
    RUN_OPTIONS,
    FloatArray,
    IndexArray,
    RunOptions,
    Watch,
    check,
    context,
    did_you_mean,
    doubles,
    new_context,
    number,
    numbers,
    text_of,
)
from ._parameters import Layout, Parameters


class Compiled:
    """Owner of a C model, with its names."""

    def __init__(self, c: Any) -> None:
        self.c = ffi.gc(c, lib.mbg_model_destroy)
        self.name = text_of(lib.mbg_model_name(c))
        self.note = text_of(lib.mbg_model_note(c))
        self.criteria = self._names("criterion")
        self.criterion_index = {name: i for i, name in enumerate(self.criteria)}
        self.layout = self._layout()
        n = self.layout.count
        self.nominal: FloatArray = np.array([lib.mbg_model_parameter_value(c, i) for i in range(n)], dtype=np.float64)
        self.nominal.flags.writeable = False
        self.slots: dict[Any, list[Slot]] = {}  # runs that wait for their next call, by their options

    def waiting(self, settings: dict[str, Any]) -> list[Slot]:
        """Return the runs with these options that wait for their next call: as many as threads were at work."""
        key = tuple(settings.items())
        try:
            found = self.slots.get(key)
        except TypeError:  # a value that cannot be hashed: the check of its type is up to the options
            return []
        if found is None:
            if len(self.slots) >= 8:
                self.slots.clear()
            found = self.slots.setdefault(key, [])
        return found

    def _names(self, kind: str) -> list[str]:
        count, name = getattr(lib, f"mbg_model_{kind}_count"), getattr(lib, f"mbg_model_{kind}_name")
        found = [name(self.c, i) for i in range(count(self.c))]
        return [text_of(c) for c in found if c]

    def _layout(self) -> Layout:
        groups: dict[str, tuple[int, int]] = {}
        name, first, count = ffi.new("const char **"), ffi.new("int *"), ffi.new("int *")
        for i in range(lib.mbg_model_parameter_group_count(self.c)):
            lib.mbg_model_parameter_group(self.c, i, name, first, count)
            groups[text_of(name[0])] = (first[0], count[0])
        entries, buffer = [], ffi.new("char[]", 1024)
        for i in range(lib.mbg_model_parameter_count(self.c)):
            lib.mbg_model_parameter_name(self.c, i, buffer, 1024)
            entries.append(text_of(buffer))
        return Layout(groups, entries)

    @functools.cached_property
    def signals(self) -> list[str]:
        """Names of the signals that have one."""
        return self._names("signal")

    @functools.cached_property
    def bodies(self) -> list[str]:
        """Names of the bodies, nodes of beams included."""
        return self._names("body")

    @functools.cached_property
    def beams(self) -> dict[str, list[str]]:
        """Names of the beams, with the bodies that are their nodes."""
        found, first, count = {}, ffi.new("int *"), ffi.new("int *")
        for i, name in enumerate(self._names("beam")):
            lib.mbg_model_beam_nodes(self.c, i, first, count)
            found[name] = self.bodies[first[0] : first[0] + count[0]]
        return found

    @functools.cached_property
    def modal(self) -> list[str]:
        """Name of the body of each modal coordinate."""
        count = lib.mbg_model_modal_count(self.c)
        return [self.bodies[lib.mbg_model_modal_body(self.c, i)] for i in range(count)]

    @functools.cached_property
    def joints(self) -> list[str]:
        """Names of the joints."""
        return self._names("joint")

    @functools.cached_property
    def forces(self) -> list[str]:
        """Names of the forces."""
        return self._names("force")

    @functools.cached_property
    def runs(self) -> list[str]:
        """Names of the runs of the file."""
        return self._names("run")

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper bounds of all parameters."""
        n = self.layout.count
        low = np.array([lib.mbg_model_parameter_min(self.c, i) for i in range(n)], dtype=np.float64)
        high = np.array([lib.mbg_model_parameter_max(self.c, i) for i in range(n)], dtype=np.float64)
        return low, high

    # ------------------------------------------------------------------ arguments

    def criterion(self, name: str | None) -> int:
        """Return the index of a criterion; None is the only one of the model."""
        try:
            return self.criterion_index[name]  # type: ignore[index]
        except (KeyError, TypeError):
            pass
        if name is None:
            if len(self.criteria) == 1:
                return 0
            has = f"has {len(self.criteria)} criteria ({', '.join(self.criteria)})" if self.criteria else "has none"
            raise InputError(f"name a criterion: model '{self.name}' {has}")
        if not isinstance(name, str):
            raise TypeError(f"criterion: expected a name, not {type(name).__name__}")
        raise InputError(f"no criterion '{name}'{did_you_mean(name, self.criteria)}")

    def criteria_indices(self, names: str | Sequence[str] | None) -> list[int]:
        """Return the indices of some criteria; None: all."""
        if names is None:
            if not self.criteria:
                raise InputError(f"model '{self.name}' has no criteria")
            return list(range(len(self.criteria)))
        if isinstance(names, str):
            return [self.criterion(names)]
        return [self.criterion(name) for name in names]

    def split(self, settings: Mapping[str, Any], others: Sequence[str] = ()) -> tuple[dict[str, Any], dict[str, Any]]:
        """Part keyword arguments into values of parameters and options of the run; others are known, too."""
        values: dict[str, Any] = {}
        options: dict[str, Any] = {}
        for name, value in settings.items():
            is_option, is_parameter = name in RUN_OPTIONS, name in self.layout.groups
            if is_option and is_parameter:
                raise TypeError(
                    f"'{name}' is a parameter of the model and an option of the run: "
                    f"give the parameter as parameters={{'{name}': ...}}"
                )
            if is_option:
                options[name] = value
            elif is_parameter:
                values[name] = value
            else:
                known = [*self.layout.groups, *others, *RUN_OPTIONS]
                raise TypeError(f"no parameter or option '{name}' of model '{self.name}'{did_you_mean(name, known)}")
        return values, options

    def vector(
        self,
        x: ArrayLike | Mapping[str, Any] | None = None,
        values: Mapping[str, Any] | None = None,
        index: IndexArray | None = None,
        base: FloatArray | None = None,
    ) -> FloatArray:
        """Make a parameter vector: nominal values, replaced by x (all, or those of `index`) and by named values."""
        if type(x) is np.ndarray and not values and index is None:
            return numbers("parameters", x, self.nominal.shape)
        p = (self.nominal if base is None else base).copy()
        if x is None:
            pass
        elif isinstance(x, Parameters):
            x = dict(x) if index is None and len(x.array) != len(p) else x.array
        if isinstance(x, Mapping):
            values = {**x, **(values or {})}
        elif x is not None:
            n = len(p) if index is None else len(index)
            given = numbers("parameters", x, (n,))
            p[slice(None) if index is None else index] = given
        for name, value in (values or {}).items():
            try:
                place = self.layout.place(name)
            except KeyError as error:
                raise InputError(str(error.args[0])) from None
            if isinstance(place, slice):
                shape = (place.stop - place.start,)
                p[place] = number(name, value) if np.ndim(value) == 0 else numbers(name, value, shape)
            else:
                p[place] = number(name, value)
        return p


class NativeRun:
    """Owner of a C run with its options and its model."""

    __slots__ = ("__weakref__", "c", "compiled", "options")

    def __init__(self, compiled: Compiled, options: RunOptions, ctx: Any) -> None:
        out = ffi.new("mbg_run **")
        check(ctx, lib.mbg_run_create(ctx, compiled.c, options.c, out))
        self.c = ffi.gc(out[0], lib.mbg_run_destroy)
        self.compiled = compiled
        self.options = options


def held(c: Any, destroy: Callable[[Any], None], compiled: Compiled) -> Any:
    """Return the owner of a C object that refers to a model, which lives at least as long."""

    def release(c: Any, model: Any = compiled.c) -> None:
        destroy(c)

    return ffi.gc(c, release)


class Held:
    """A result in C. A pickled one is computed again when it is needed."""

    __slots__ = ("_c", "_make")

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._c = make()

    @property
    def c(self) -> Any:
        """The C object."""
        if self._c is None:
            self._c = self._make()
        return self._c

    def __getstate__(self) -> Any:
        return self._make

    def __setstate__(self, make: Callable[[], Any]) -> None:
        self._make, self._c = make, None


class Slot:
    """A run with what belongs to it, for calls that follow each other; each call decides everything anew."""

    __slots__ = ("c", "ctx", "g", "g_c", "options", "psi", "psi_c", "watch")

    def __init__(self, compiled: Compiled, settings: dict[str, Any]) -> None:
        self.watch = Watch()
        self.options = RunOptions(settings, self.watch)
        self.ctx = new_context()
        nc = len(compiled.criteria)
        self.psi, self.g = np.empty(nc), np.empty((nc, compiled.layout.count))
        self.psi_c, self.g_c = doubles(self.psi), doubles(self.g)

        def release(slot: Any, model: Any = compiled.c) -> None:  # the model goes after the run
            lib.mbg_py_release(slot)

        self.c = ffi.gc(ffi.new("mbg_py_slot *"), release)
        self.c.watch = self.watch.c


def warned(ctx: Any) -> bool:
    """Tell whether there is a warning among the messages."""
    count = lib.mbg_context_message_count(ctx)
    return any(lib.mbg_context_message_severity(ctx, i) == lib.MBG_WARNING for i in range(count))


def evaluate(
    compiled: Compiled,
    p: FloatArray,
    settings: dict[str, Any],
    criteria: Sequence[int],
    method: int,
    watch: Watch | None = None,
    gradient: bool = True,
    said: list[bool] | None = None,
) -> tuple[FloatArray, FloatArray | None]:
    """Simulate as by a new run at p: values of all criteria, and the gradients of some (others: NAN).

    said: gets True when the call warns.
    """
    waiting = compiled.waiting(settings)
    try:
        slot = waiting.pop()
    except IndexError:
        slot = Slot(compiled, settings)
    if watch is not None:
        watch.inner = slot.watch
    c = slot.c
    status = lib.mbg_py_evaluate_new(
        slot.ctx,
        compiled.c,
        slot.options.c,
        c,
        get_ident() == MAIN_THREAD,
        doubles(p),
        len(criteria),
        criteria,
        method,
        slot.psi_c,
        slot.g_c if gradient else ffi.NULL,
    )
    if not c.clean:
        if said is not None:
            said.append(warned(slot.ctx))
        check(slot.ctx, status, slot.watch)
    psi, g = slot.psi.copy(), slot.g.copy() if gradient else None
    if c.keep:  # what failed or was stopped is not used again
        waiting.append(slot)
    return psi, g


def select(ctx: Any, run: NativeRun, criteria: Sequence[int]) -> None:
    """Choose the criteria that are differentiated."""
    if len(criteria) < len(run.compiled.criteria):
        check(ctx, lib.mbg_run_select(ctx, run.c, len(criteria), criteria))


def evaluate_run(
    ctx: Any, run: NativeRun, p: FloatArray | None, criteria: Sequence[int], method: int, gradient: bool = True
) -> tuple[FloatArray, FloatArray | None]:
    """Simulate a run (p None: it is simulated already) and evaluate its criteria."""
    nc, n = len(run.compiled.criteria), run.compiled.layout.count
    psi = np.empty(nc)
    g = np.empty((nc, n)) if gradient else None
    if gradient:
        select(ctx, run, criteria)
    status = lib.mbg_py_evaluate(
        ctx,
        run.c,
        ffi.NULL if p is None else ffi.from_buffer("double[]", p),
        method,
        ffi.from_buffer("double[]", psi),
        ffi.NULL if g is None else ffi.from_buffer("double[]", g),
    )
    check(ctx, status, run.options.watch)
    return psi, g


def load_compiled(path: bytes, run: str | None) -> Compiled:
    """Load a model file."""
    with context() as ctx:
        out = ffi.new("mbg_model **")
        check(ctx, lib.mbg_model_load_run(ctx, path, run.encode() if run is not None else ffi.NULL, out))
        return Compiled(out[0])


def parse_compiled(name: str, text: str, base: str | None, run: str | None) -> Compiled:
    """Make a model of a text."""
    with context() as ctx:
        out = ffi.new("mbg_model **")
        data = text.encode()
        where = ffi.NULL if base is None else base.encode()
        check(ctx, lib.mbg_model_parse(ctx, name.encode(), data, len(data), where, out))
        compiled = Compiled(out[0])
        if run is None:
            return compiled
        check(ctx, lib.mbg_model_for_run(ctx, compiled.c, run.encode(), out))
        return Compiled(out[0])
