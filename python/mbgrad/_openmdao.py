"""Functions of a model for OpenMDAO."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ._function import Function
from ._native import need


def _variable(name: str) -> str:
    """Return a name that OpenMDAO takes: no dots, brackets or blanks."""
    return re.sub(r"\W+", "_", name).strip("_")


def openmdao_component(function: Function) -> Any:
    """Return an ExplicitComponent with one input for each parameter and one output for each criterion."""
    om = need("openmdao.api", "model.openmdao()")
    layout = function._layout
    inputs = {name: (_variable(name), layout.place(name)) for name in layout.groups}
    outputs = {name: _variable(name) for name in function.criteria}

    class MbgradComponent(om.ExplicitComponent):  # type: ignore[misc, name-defined, unused-ignore]
        """Criteria of a simulation and their gradients."""

        def setup(self) -> None:
            for variable, place in inputs.values():
                self.add_input(variable, val=function.x0[place])
            for variable in outputs.values():
                self.add_output(variable, val=0.0)

        def setup_partials(self) -> None:
            self.declare_partials("*", "*")

        def _x(self, values: Any) -> Any:
            x = np.empty(function.size)
            for variable, place in inputs.values():
                x[place] = np.asarray(values[variable]).reshape(-1) if isinstance(place, slice) else values[variable][0]
            return x

        def compute(self, values: Any, results: Any, *_: Any) -> None:
            y = np.atleast_1d(function(self._x(values)))
            for k, variable in enumerate(outputs.values()):
                results[variable] = y[k]

        def compute_partials(self, values: Any, partials: Any, *_: Any) -> None:
            j = np.atleast_2d(function.jacobian(self._x(values)))
            for k, output in enumerate(outputs.values()):
                for variable, place in inputs.values():
                    partials[output, variable] = j[k, place]

    return MbgradComponent()
