"""Models: loading, building, and everything that is computed from them."""

from __future__ import annotations

import copy
import json
import math
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from ._compiled import Compiled, evaluate, load_compiled, parse_compiled
from ._elements import Elements
from ._errors import FileError, InputError
from ._function import Function
from ._gallery import find_model, gallery_folder
from ._import import ENDINGS, exported, imported
from ._mbgrad import ffi, lib
from ._native import METHODS, FloatArray, Watch, context, did_you_mean, method_index, take_text, text_of
from ._parameters import Parameters
from ._problems import Problems
from ._progress import run_progress
from ._report import make_picture, make_report
from ._run import Run
from ._view import Page

if TYPE_CHECKING:
    from ._adapters import ScipyProblem
    from ._batch import Batch, Table

# keys of a model that hold named elements
SECTIONS = (
    "parameters",
    "constants",
    "tables",
    "controls",
    "bodies",
    "beams",
    "markers",
    "joints",
    "drivers",
    "couplings",
    "curves",
    "forces",
    "contacts",
    "modes",
    "events",
    "signals",
    "states",
    "blocks",
    "criteria",
    "parts",
    "runs",
)
SETTINGS = ("initial", "run", "control", "identify", "optimize")


def plain(value: Any, where: str) -> Any:
    """Turn a value into what JSON knows."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where}: {value} is not a finite number")
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{where}: keys are texts, not {type(key).__name__} {key!r}")
        return {key: plain(v, f"{where}.{key}") for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, f"{where}[{i}]") for i, v in enumerate(value)]
    if hasattr(value, "__float__"):
        return plain(float(value), where)
    raise TypeError(f"{where}: {type(value).__name__} {value!r} is neither a number nor a text, list or mapping")


class Model(Elements, Problems):
    """A mechanism with parameters, signals, criteria and a run.

    Made by :func:`load`, of a dictionary with the keys of a model file, or in code::

        model = mbgrad.Model("pendulum")
        length = model.parameter("l", 1.0, min=0.1, unit="m")
        bob = model.body("bob", mass=1, inertia=0.01, position=["l", 0, 0], motion="planar")
        model.revolute("hinge", between=["ground", bob], at=[0, 0, 0])
        model.gravity = [0, -9.81, 0]
        model.signal("y", "position", of=bob, component="y")
        model.criterion("depth", integral="y")
        model.configure("run", end=1, step=0.01)
        value, gradient = model.value_and_grad("depth")

    Methods that compute take values of parameters and options of the run as keywords: ``formulation``, ``integrator``,
    ``start``, ``end``, ``step``, ``tolerance``, ``accuracy``, ``rho_inf``, ``alpha_f``, ``memory``, ``threads``,
    ``interval``, ``refine``, ``adjoint_tolerance`` (see ``docs/python.md``). They release the interpreter lock, may be
    called from several threads at once, and stop at Ctrl-C.

    Parameters
    ----------
    source : str or mapping, optional
        Name of a new model, or a whole model as a dictionary.
    base : path, optional
        Folder of data files and parts that the model names; the current one when left out.
    """

    def __init__(
        self, source: str | Mapping[str, Any] | None = None, *, base: str | os.PathLike[str] | None = None
    ) -> None:
        self._source: dict[str, Any] | None
        if isinstance(source, Mapping):
            self._source = plain(source, "model")
        elif source is None or isinstance(source, str):
            self._source = {"mbgrad": 1, **({"name": source} if source else {})}
        else:
            raise TypeError(f"expected a name or a dictionary, not {type(source).__name__}; mbgrad.load reads files")
        self._text: str | None = None
        self._path: Path | None = None
        self._base = None if base is None else Path(base).absolute()
        self._run_name: str | None = None
        self._done: Compiled | None = None
        self._lock = threading.RLock()
        #: what an import left out, approximated or renamed; "" for other models
        self.import_report = ""

    @classmethod
    def _load(cls, path: Path, run: str | None) -> Model:
        model = cls()
        done = load_compiled(os.fsencode(path), run)
        try:
            model._text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise FileError(f"{path}: {error.strerror}") from None
        model._source = None
        model._path, model._base = path, path.absolute().parent
        model._run_name = run
        model._done = done
        return model

    # ------------------------------------------------------------------ source

    def _compile(self) -> Compiled:
        done = self._done
        if done is None:
            with self._lock:
                if self._done is None:
                    name = str(self._path) if self._path else f"<{self.name}>"
                    base = None if self._base is None else str(self._base)
                    self._done = parse_compiled(name, self.to_json(), base, self._run_name)
                done = self._done
        return done

    def _edit(self) -> dict[str, Any]:
        """Return the source for a change."""
        with self._lock:
            if self._source is None:
                assert self._text is not None
                self._source = json.loads(self._text)
            self._text = self._done = self._path = None
            return self._source

    def to_dict(self) -> dict[str, Any]:
        """Return the model as a dictionary with the keys of a model file."""
        if self._source is None:
            assert self._text is not None
            return json.loads(self._text)  # type: ignore[no-any-return]
        return copy.deepcopy(self._source)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the text of the model file, and write it to a path if given.

        A model of a file keeps its text. Data files and parts keep their names: write the file beside them.
        """
        text = self._text if self._text is not None else json.dumps(self._source, indent=2, ensure_ascii=False) + "\n"
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def copy(self) -> Model:
        """Return a model that can be changed without changing this one."""
        new = copy.copy(self)
        new._source = copy.deepcopy(self._source)
        return new

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["_lock"], state["_done"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()
        self._done = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return self.to_dict() == other.to_dict() and self._run_name == other._run_name

    __hash__ = object.__hash__

    def add(self, section: str, name: str, /, *value: Any, **keys: Any) -> str:
        """Add an element to any section: ``model.add("constants", "g", 9.81)``.

        Parameters
        ----------
        section : str
            Section of the model file: ``"bodies"``, ``"joints"``, ``"constants"``, ...
        name : str
            Name of the element; an element of that name is replaced.
        *value
            The element itself, where it is no mapping.
        **keys
            Its keys; keys that are None are left out, ``in_`` and ``from_`` stand for ``in`` and ``from``.

        Returns
        -------
        str
            The name.
        """
        if section not in SECTIONS:
            raise InputError(f"no section '{section}' of elements{did_you_mean(section, SECTIONS)}")
        if not isinstance(name, str):
            raise TypeError(f"the name of an element is a text, not {type(name).__name__} {name!r}")
        if len(value) > 1 or (value and keys):
            raise TypeError("give one value, or keys")
        where = f"{section}.{name}"
        element: Any
        if value:
            element = plain(value[0], where)
        else:
            given = {k.removesuffix("_"): v for k, v in keys.items() if v is not None}
            element = {k: plain(v, f"{where}.{k}") for k, v in given.items()}
            if section == "parameters" and set(element) == {"value"} and not isinstance(element["value"], list):
                element = element["value"]
        self._edit().setdefault(section, {})[name] = element
        return name

    def constant(self, name: str, value: float | str) -> str:
        """Add a constant: a number, or an expression of parameters and other constants."""
        return self.add("constants", name, value)

    def remove(self, section: str, name: str) -> None:
        """Take an element out of a section."""
        held = self._edit().get(section, {})
        if name not in held:
            raise InputError(f"no '{name}' in section '{section}'{did_you_mean(name, list(held))}")
        del held[name]

    def configure(self, section: str, /, **keys: Any) -> None:
        """Set keys of the sections ``run``, ``initial``, ``optimize``, ``identify`` and ``control``.

        ``model.configure("run", formulation="lie", end=2, step=0.01)``; a key that is None is removed.
        """
        if section not in SETTINGS:
            raise InputError(f"no section '{section}' of settings{did_you_mean(section, SETTINGS)}")
        held = self._edit().setdefault(section, {})
        for key, value in keys.items():
            if value is None:
                held.pop(key, None)
            else:
                held[key] = plain(value, f"{section}.{key}")

    @property
    def gravity(self) -> list[float | str] | None:
        """Acceleration of gravity in world axes; None without gravity."""
        return self.to_dict().get("gravity")

    @gravity.setter
    def gravity(self, value: Sequence[float | str] | FloatArray | None) -> None:
        source = self._edit()
        if value is None:
            source.pop("gravity", None)
        else:
            source["gravity"] = plain(value, "gravity")

    @property
    def name(self) -> str:
        """Name of the model."""
        if self._done is not None:
            return self._done.name
        return str(self.to_dict().get("name", "model"))

    @property
    def note(self) -> str:
        """Remark of the model; "" without one."""
        return self._compile().note

    # ------------------------------------------------------------------ contents

    @property
    def parameters(self) -> Parameters:
        """Nominal values of the parameters."""
        done = self._compile()
        return Parameters(done.layout, done.nominal)

    @property
    def bounds(self) -> tuple[Parameters, Parameters]:
        """Lower and upper bounds of the parameters."""
        done = self._compile()
        low, high = done.bounds()
        return Parameters(done.layout, low), Parameters(done.layout, high)

    @property
    def criteria(self) -> list[str]:
        """Names of the criteria."""
        return list(self._compile().criteria)

    @property
    def signals(self) -> list[str]:
        """Names of the signals."""
        return list(self._compile().signals)

    @property
    def bodies(self) -> list[str]:
        """Names of the bodies, nodes of beams included."""
        return list(self._compile().bodies)

    @property
    def beams(self) -> dict[str, list[str]]:
        """Names of the beams, with the bodies that are their nodes, from the first end to the second."""
        return {name: list(nodes) for name, nodes in self._compile().beams.items()}

    @property
    def modal(self) -> dict[str, int]:
        """Number of modal coordinates of each flexible body that has some."""
        owners = self._compile().modal
        return {body: owners.count(body) for body in dict.fromkeys(owners)}

    @property
    def joints(self) -> list[str]:
        """Names of the joints."""
        return list(self._compile().joints)

    @property
    def forces(self) -> list[str]:
        """Names of the forces."""
        return list(self._compile().forces)

    @property
    def runs(self) -> list[str]:
        """Names of the runs of the model: load cases, experiments."""
        return list(self._compile().runs)

    @property
    def run_name(self) -> str | None:
        """Name of the run that the model is for, or None."""
        return self._run_name

    def for_run(self, run: str | None) -> Model:
        """Return the model for one of its runs."""
        if run is not None and not isinstance(run, str):
            raise TypeError(f"expected the name of a run, not {type(run).__name__}")
        if run is not None and run not in self._compile().runs:
            raise InputError(f"no run '{run}'{did_you_mean(run, self._compile().runs)}")
        new = self.copy()
        new._run_name, new._done = run, None
        new._compile()
        return new

    def __repr__(self) -> str:
        try:
            done = self._compile()
        except Exception as error:
            first = str(error).split("\n")[0]
            return f"<Model '{self.name}', not complete: {first}>"
        shown = ", ".join(list(done.layout.groups)[:8]) + (", ..." if len(done.layout.groups) > 8 else "")
        run = f", run '{self._run_name}'" if self._run_name else ""
        return (
            f"<Model '{done.name}'{run}: {len(done.bodies)} bodies, {len(done.joints)} joints, parameters"
            f" {shown or 'none'}, criteria {', '.join(done.criteria) or 'none'}>"
        )

    def export_file(
        self,
        path: str | os.PathLike[str],
        *,
        into: str | os.PathLike[str] | None = None,
        parameters: ArrayLike | Mapping[str, Any] | None = None,
    ) -> str:
        """Write the model as a robot of URDF (a path that ends in .urdf) or MJCF (.xml).

        Parameters
        ----------
        path : str or path
            The file.
        into : str or path, optional
            A file that the model was imported from: `path` becomes this file with the masses, damping, friction and
            stiffness of the model, and without any other change.
        parameters : array or mapping, optional
            Values of the parameters: all of them as a vector, or some by name.

        Returns
        -------
        str
            What was left out or approximated, line by line.
        """
        done = self._compile()
        text, report = exported(done, done.vector(parameters, {}), path, into)
        Path(path).write_text(text, encoding="utf-8")
        return report

    # ------------------------------------------------------------------ runs and gradients

    def simulate(
        self,
        parameters: ArrayLike | Mapping[str, Any] | None = None,
        *,
        poses: bool = True,
        restart: str | os.PathLike[str] | None = None,
        fresh: bool = False,
        progress: bool | Callable[[float], Any] | None = None,
        **settings: Any,
    ) -> Run:
        """Simulate the model.

        Parameters
        ----------
        parameters : array or mapping, optional
            Values of the parameters: all of them as a vector, or some by name.
        poses : bool
            Keep the frames of the bodies at every node: ``run.frames``.
        restart : path, optional
            Begin with the state that ``run.save_state`` wrote, and go on as if the run had not ended; such a run has
            no derivatives.
        fresh : bool
            With ``restart``: begin with the nearest state on the constraints, and compute accelerations anew. Then the
            run has derivatives.
        progress : bool or callable, optional
            True shows a progress bar; a callable gets the part that is done, from 0 to 1.
        **settings
            Values of parameters, and options of the run: ``simulate(k1=250, formulation="lie", step=1e-3)``.

        Returns
        -------
        Run
            Signals, frames, criteria and their derivatives.
        """
        done = self._compile()
        values, options = done.split(settings)
        p = done.vector(parameters, values)
        with run_progress(self, progress, options) as shown:
            state = None if restart is None else os.fsencode(restart)
            return Run(self, p, options, poses, Watch(shown), state, fresh)

    def view(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        gradient: bool = False,
        loads: bool = False,
        **settings: Any,
    ) -> Page:
        """Simulate the model and show its motion.

        Parameters
        ----------
        path : path, optional
            Write the page to this file, too.
        gradient : bool
            Show the gradients of the criteria.
        loads : bool
            Show forces and moments as arrows, stresses of beams as colours; simulates a second time.
        **settings
            As of ``simulate``.

        Returns
        -------
        Page
            Shown by notebooks; ``page.open()`` opens a browser, ``page.save(path)`` writes a file.
        """
        return self.simulate(**settings).view(path, gradient=gradient, loads=loads)

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        parameters: ArrayLike | Mapping[str, Any] | None = None,
        criteria: str | Sequence[str] | None = None,
        proof: bool = True,
        error: bool = True,
        optimize: bool = False,
        identify: bool = False,
        control: bool = False,
        **settings: Any,
    ) -> Page:
        """Report the model, its motion, signals, gradients with their proof, and the numbers that matter most.

        The program of the package makes it: ``mbgrad report``.

        Parameters
        ----------
        path : path, optional
            Write the page to this file, too.
        parameters : array or mapping, optional
            Values of the parameters: all of them as a vector, or some by name.
        criteria : str or list of str, optional
            These criteria only.
        proof, error : bool
            With the proof of the gradients, with the estimated error of the steps.
        optimize, identify, control : bool
            Run these searches of the model and show their results, too.
        **settings
            Values of parameters by name, and options of the run that the program has.

        Returns
        -------
        Page
            Shown by notebooks; ``page.open()`` opens a browser, ``page.save(path)`` writes a file.
        """
        done = self._compile()
        values, options = done.split(settings)
        flags = ["--no-proof"] * (not proof) + ["--no-error-estimate"] * (not error)
        flags += ["--optimize"] * optimize + ["--identify"] * identify + ["--control"] * control
        names = [criteria] if isinstance(criteria, str) else criteria
        page = make_report(self, done.vector(parameters, values), options, flags, names)
        if path is not None:
            page.save(path)
        return page

    def film(
        self,
        path: str | os.PathLike[str],
        *,
        frames: int | None = None,
        eye: tuple[float, float] | None = None,
        parameters: ArrayLike | Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        """Write the motion as a picture that moves: SVG, or by ffmpeg GIF and MP4.

        The program of the package draws it: ``mbgrad view --film``.

        Parameters
        ----------
        path : path
            Its ending tells the kind: ``.svg``, ``.gif``, ``.mp4``.
        frames : int, optional
            Number of pictures.
        eye : (azimuth, elevation), optional
            Direction to look from, in degrees.
        parameters : array or mapping, optional
            Values of the parameters: all of them as a vector, or some by name.
        **settings
            Values of parameters by name, and options of the run that the program has.
        """
        done = self._compile()
        values, options = done.split(settings)
        p = done.vector(parameters, values)
        make_picture(self, path, p, options, film=True, frames=frames, at=None, eye=eye)

    def picture(
        self,
        path: str | os.PathLike[str],
        *,
        at: float | None = None,
        eye: tuple[float, float] | None = None,
        parameters: ArrayLike | Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        """Write a still picture of the model: SVG, or PNG and PDF where the program has cairo.

        As :meth:`film`; ``at`` is the time, the start when absent.
        """
        done = self._compile()
        values, options = done.split(settings)
        p = done.vector(parameters, values)
        make_picture(self, path, p, options, film=False, frames=None, at=at, eye=eye)

    def glb(self, path: str | os.PathLike[str] | None = None, **settings: Any) -> bytes:
        """Simulate the model and return its motion as binary glTF 2.0, for other viewers.

        Parameters
        ----------
        path : path, optional
            Write it to this file, too.
        **settings
            As of ``simulate``.
        """
        return self.simulate(**settings).glb(path)

    @overload
    def value_and_grad(
        self, criterion: str | None = ..., x: None = ..., *, wrt: Any = ..., method: str = ..., **settings: Any
    ) -> tuple[float, Parameters]: ...

    @overload
    def value_and_grad(
        self, criterion: str | None, x: ArrayLike, *, wrt: Any = ..., method: str = ..., **settings: Any
    ) -> tuple[float, FloatArray]: ...

    def value_and_grad(
        self,
        criterion: str | None = None,
        x: ArrayLike | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        method: str = "auto",
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> tuple[float, Parameters] | tuple[float, FloatArray]:
        """Simulate, and return a criterion with its exact gradient.

        Parameters
        ----------
        criterion : str, optional
            Name of the criterion; the only one of the model when left out.
        x : array, optional
            Values of the parameters `wrt`, in their order. The gradient is then an array, too.
        wrt : str or list of str, optional
            Parameters to differentiate by; all of them when left out.
        method : str
            ``"auto"``, ``"direct"``, ``"adjoint"``, ``"continuous"``, ``"continuous-paper"``.
        parameters : mapping, optional
            Values of parameters by name.
        **settings
            Values of parameters, and options of the run.

        Returns
        -------
        value : float
        gradient : Parameters or numpy.ndarray
            By name without `x`, else an array.

        Notes
        -----
        Every call simulates anew. An optimizer is served better by :meth:`function`, which keeps its run.
        """
        done = self._compile()
        k = done.criterion(criterion)
        values, options = done.split(settings) if settings else ({}, {})
        if parameters:
            values = {**parameters, **values}
        index, layout = (None, done.layout) if wrt is None else done.layout.subset(_names(wrt))
        p = done.vector(x, values, index)
        psi, g = evaluate(done, p, options, (k,), method_index(method))
        assert g is not None
        row = g[k] if index is None else g[k][index]
        value = float(psi[k])
        if x is None:
            return value, Parameters(layout, row)
        return value, row

    def value(
        self,
        criterion: str | None = None,
        x: ArrayLike | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> float:
        """Simulate, and return a criterion; arguments as in :meth:`value_and_grad`."""
        done = self._compile()
        k = done.criterion(criterion)
        values, options = done.split(settings)
        index = None if wrt is None else done.layout.subset(_names(wrt))[0]
        p = done.vector(x, {**(parameters or {}), **values}, index)
        psi, _ = evaluate(done, p, options, (k,), 0, gradient=False)
        return float(psi[k])

    def grad(self, criterion: str | None = None, x: ArrayLike | None = None, **settings: Any) -> Any:
        """Return the gradient alone; arguments as in :meth:`value_and_grad`."""
        return self.value_and_grad(criterion, x, **settings)[1]

    def jacobian(
        self,
        criteria: str | Sequence[str] | None = None,
        x: ArrayLike | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        method: str = "auto",
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> FloatArray:
        """Simulate, and differentiate several criteria (all when left out): an array (criteria, parameters).

        Further arguments as in :meth:`value_and_grad`.
        """
        done = self._compile()
        rows = done.criteria_indices(criteria)
        values, options = done.split(settings)
        index = None if wrt is None else done.layout.subset(_names(wrt))[0]
        p = done.vector(x, {**(parameters or {}), **values}, index)
        _, g = evaluate(done, p, options, rows, method_index(method))
        assert g is not None
        out: FloatArray = g[rows] if index is None else g[rows][:, index]
        return out

    def function(
        self,
        criteria: str | Sequence[str] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        signals: str | Sequence[str] | None = None,
        method: str = "auto",
        workers: int | None = None,
        parameters: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> Function:
        """Return criteria, or signals over time, as a function of the parameters with exact derivatives.

        The function keeps its runs: evaluations cost nothing but the simulation, and steps and dropped constraints
        are decided once, at the values of the parameters given here, so that the function is smooth.

        Parameters
        ----------
        criteria : str or list of str, optional
            One criterion (the function returns a number) or several (a vector). All of them when left out.
        wrt : str or list of str, optional
            The arguments of the function: parameters by name; all when left out.
        signals : str or list of str, optional
            Instead of criteria: values of these signals at every node, an array (nodes) or (nodes, signals).
        method : str
            Method of differentiation.
        workers : int, optional
            Threads for a batch of arguments; the number of processors when left out.
        parameters : mapping, optional
            Values of parameters by name, as in **settings.
        **settings
            Values of the other parameters, and options of the run.
        """
        done = self._compile()
        values, options = done.split(settings)
        base = done.vector(None, {**(parameters or {}), **values})
        return Function(self, criteria, signals, None if wrt is None else _names(wrt), base, options, method, workers)

    def batch(
        self,
        parameters: ArrayLike | Mapping[str, ArrayLike],
        *,
        criteria: str | Sequence[str] | None = None,
        wrt: str | Sequence[str] | None = None,
        gradient: bool = True,
        method: str = "auto",
        workers: int | None = None,
        ensemble: bool = False,
        progress: bool | Callable[[float], Any] | None = None,
        **settings: Any,
    ) -> Batch:
        """Run many parameter sets in threads.

        Parameters
        ----------
        parameters : array (sets, parameters) or mapping from names to arrays (sets)
            Values of the parameters of each set; those that are not named keep their values.
        criteria : str or list of str, optional
            All of them when left out.
        wrt : str or list of str, optional
            Parameters of the columns of an array, and of the gradients; all of them when left out. With a mapping the
            gradients are by its parameters unless `wrt` says otherwise.
        gradient : bool
            Compute gradients.
        workers : int, optional
            Threads; the number of processors when left out. Results do not depend on it.
        ensemble : bool
            Compute four sets at a time in vector instructions, with fixed steps; the numbers are the same.
        progress : bool or callable, optional
            As in :meth:`simulate`.
        **settings
            Values of other parameters, and options of the run.

        Returns
        -------
        Batch
            Values, gradients, and the error of each set that failed. Each row is what a run of its own gives.
        """
        from ._batch import batch

        return batch(self, parameters, criteria, wrt, gradient, method, workers, progress, settings, ensemble=ensemble)

    def sweep(
        self,
        vary: Mapping[str, ArrayLike] | None = None,
        *,
        points: Mapping[str, ArrayLike] | None = None,
        executor: Any = None,
        records: str | os.PathLike[str] | None = None,
        ensemble: bool = False,
        criteria: str | Sequence[str] | None = None,
        gradient: bool = True,
        method: str = "auto",
        workers: int | None = None,
        progress: bool | Callable[[float], Any] | None = None,
        **settings: Any,
    ) -> Table:
        """Evaluate criteria and gradients on a grid: ``model.sweep(k1=[80, 120], L01=np.linspace(2, 2.5, 3))``.

        ``model.sweep(points={"k1": [80, 90], "L01": [2, 2.1]})`` evaluates two points.

        Parameters
        ----------
        vary : mapping, optional
            Values of parameters by name, as an alternative to keywords.
        points : mapping, optional
            A list of points instead of a grid: lists of one length by name.
        executor : concurrent.futures.Executor, optional
            Where points are computed instead of threads: a process pool, ``dask.distributed.Client``,
            ``mpi4py.futures.MPIPoolExecutor``, or anything with their method ``submit``. Its workers need the package
            and no files of the model. Results do not depend on it.
        records : path, optional
            Folder in which each result is recorded when it comes; results that are there are not computed again. The
            same sweep by ``mbgrad sweep --records`` has the same records.
        ensemble : bool
            Compute four points at a time in vector instructions, with fixed steps; the numbers are the same.
        criteria, gradient, method, workers, progress
            As in :meth:`batch`.
        **settings
            Parameters with a list of values are varied, the last one fastest; other parameters and options are set.

        Returns
        -------
        Table
            Columns by name: parameters, criteria, ``dpsi/dk1``, and the status of each row; ``to_csv`` writes it.
        """
        from ._batch import sweep

        return sweep(
            self,
            dict(vary or {}),
            criteria,
            gradient,
            method,
            workers,
            progress,
            settings,
            points,
            executor,
            records,
            ensemble,
        )

    def scatter(
        self,
        count: int,
        deviations: Mapping[str, float] | None = None,
        *,
        uniform: Sequence[str] = (),
        correlation: ArrayLike | None = None,
        seed: int = 1,
    ) -> dict[str, FloatArray]:
        """Draw random parameters, the samples of ``mbgrad uncertainty``: ``model.batch(model.scatter(1000))``.

        Parameters
        ----------
        count : int
            Number of samples.
        deviations, uniform, correlation
            As in :meth:`Run.uncertainty`.
        seed : int
            Names the sequence.

        Returns
        -------
        dict
            Values by name, each an array (count).
        """
        from ._uncertainty import scatter_of

        compiled = self._compile()
        scatter, index = scatter_of(compiled, deviations, uniform, correlation)
        p = np.asarray(self.parameters)[index] + scatter.samples(count, seed)
        return {name: p[:, k].copy() for k, name in enumerate(scatter.names)}

    # ------------------------------------------------------------------ frameworks

    def scipy(self, criterion: str | None = None, *, wrt: Any = None, **settings: Any) -> ScipyProblem:
        """Return a problem for scipy.optimize: ``minimize(**model.scipy("psi", wrt=["k1", "k2"]))``.

        Start and bounds come from the model. Arguments as in :meth:`function`.
        """
        from ._adapters import ScipyProblem

        name = self._compile().criteria[self._compile().criterion(criterion)]
        return ScipyProblem(self.function(name, wrt=wrt, **settings))

    def jax(self, criteria: Any = None, *, wrt: Any = None, signals: Any = None, **settings: Any) -> Any:
        """Return a JAX function of the parameters, for grad, jacfwd, jacrev, jit and vmap.

        Arguments as in :meth:`function`. JAX needs 64-bit numbers: ``jax.config.update("jax_enable_x64", True)``.
        """
        from ._jax import jax_function

        return jax_function(self.function(criteria, wrt=wrt, signals=signals, **settings))

    def torch(self, criteria: Any = None, *, wrt: Any = None, signals: Any = None, **settings: Any) -> Any:
        """Return a PyTorch function of the parameters (float64), with gradients; batches by leading dimensions.

        Arguments as in :meth:`function`.
        """
        from ._torch import torch_function

        return torch_function(self.function(criteria, wrt=wrt, signals=signals, **settings))

    def openmdao(self, criteria: Any = None, *, wrt: Any = None, **settings: Any) -> Any:
        """Return an OpenMDAO ExplicitComponent: one input for each parameter, one output for each criterion.

        Arguments as in :meth:`function`.
        """
        from ._openmdao import openmdao_component

        names = [criteria] if isinstance(criteria, str) else criteria
        return openmdao_component(self.function(names, wrt=wrt, **settings))

    def casadi(self, criteria: Any = None, *, wrt: Any = None, name: str = "mbgrad", **settings: Any) -> Any:
        """Return a CasADi Callback of the parameters, with its Jacobian.

        Arguments as in :meth:`function`. Keep a reference to it as long as expressions use it.
        """
        from ._casadi import casadi_callback

        return casadi_callback(self.function(criteria, wrt=wrt, **settings), name)


def _names(names: str | Sequence[str]) -> list[str]:
    if isinstance(names, str):
        return [names]
    names = list(names)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"wrt: expected names of parameters, not {type(name).__name__} {name!r}")
    return names


def load(source: str | os.PathLike[str] | Mapping[str, Any], *, run: str | None = None) -> Model:
    """Load a model.

    Parameters
    ----------
    source : str, path or mapping
        A model file, a folder that holds ``model.json``, a name of the gallery, a robot in URDF, SDF or MJCF (see
        `import_file`), or a dictionary with the keys of a model file.
    run : str, optional
        One of the runs of the model: a load case or an experiment.

    Returns
    -------
    Model

    Raises
    ------
    InputError
        The model is wrong; the message has every error with file, line and column.
    FileError
        There is no such model, or it cannot be read.
    """
    if run is not None and not isinstance(run, str):
        raise TypeError(f"run: expected a name, not {type(run).__name__}")
    if isinstance(source, Mapping):
        model = Model(source)
        model._run_name = run
        model._compile()
        return model
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"expected a path, a name or a dictionary, not {type(source).__name__}")
    path = find_model(source)
    if path.suffix.lower() in ENDINGS:
        return import_file(path)
    return Model._load(path, run)


def import_file(
    path: str | os.PathLike[str],
    *,
    parameters: Iterable[str] = (),
    without: Iterable[str] = (),
    base: str = "fixed",
    keep_fixed: bool = False,
    start: str | None = None,
    contacts: bool = False,
) -> Model:
    """Make a model of a robot in URDF, SDF or MJCF.

    Parameters
    ----------
    path : str or path
        The file.
    parameters : iterable of str
        Numbers that become parameters: any of mass, com, inertia, damping, friction, stiffness.
    without : iterable of str
        What is left out: any of limits, damping, friction, armature.
    base : str
        ``"fixed"``: the root is fixed to the ground; ``"free"``: it moves freely.
    keep_fixed : bool
        Links that are fixed to another stay bodies of their own.
    start : str, optional
        MJCF: the keyframe at which the model starts.
    contacts : bool
        MJCF: spheres, capsules and boxes touch the planes of the world.

    Returns
    -------
    Model
        Its attribute ``import_report`` says, line by line, what was left out, approximated or renamed.
    """
    text, report = imported(path, parameters, without, base, keep_fixed, start, contacts)
    model = Model(json.loads(text))
    model.import_report = report
    model._compile()
    return model


def schema() -> dict[str, Any]:
    """Return the JSON Schema of model files."""
    with context() as ctx:
        text = ffi.new("char **")
        return json.loads(take_text(ctx, lib.mbg_model_schema(ctx, text), text))  # type: ignore[no-any-return]


class Formulation(str):
    """Name of a formulation, with what it offers.

    Attributes
    ----------
    key : str
        ``"lie"``, as options have it.
    paper : str
        Authors of the paper.
    integrators : tuple of str
        Keys of its integrators, the preset first; empty for steps of its own.
    methods : tuple of str
        Methods of differentiation.
    """

    key: str
    paper: str
    integrators: tuple[str, ...]
    methods: tuple[str, ...]

    @classmethod
    def _of(cls, i: int) -> Formulation:
        found = cls(text_of(lib.mbg_formulation_name(i)))
        found.key = text_of(lib.mbg_formulation_key(i))
        found.paper = text_of(lib.mbg_formulation_paper(i))
        found.integrators = tuple(text_of(lib.mbg_formulation_integrators(i)).split())
        found.methods = tuple(name for name, m in METHODS.items() if m > 0 and lib.mbg_formulation_has(i, m))
        return found


def formulations() -> dict[str, Formulation]:
    """Return the formulations by key: their names, which tell paper, integrators and methods, too."""
    found = [Formulation._of(i) for i in range(lib.mbg_formulation_count())]
    return {f.key: f for f in found}


__all__ = ["Formulation", "Model", "formulations", "gallery_folder", "load", "schema"]
