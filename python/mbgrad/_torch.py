"""Functions of a model for PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._errors import InputError
from ._function import Function
from ._native import need


def torch_function(function: Function) -> Callable[[Any], Any]:
    """Return a PyTorch function of a float64 tensor (..., arguments)."""
    torch = need("torch", "model.torch()")

    class Evaluate(torch.autograd.Function):  # type: ignore[misc, name-defined, unused-ignore]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            argument = x.detach().cpu().numpy()
            ctx.argument = argument
            if function.signals is None and ctx.needs_input_grad[0]:
                y, ctx.jacobian = function.value_and_jacobian(argument)
            else:
                y = function(argument)
            return torch.from_numpy(np.array(y, dtype=np.float64)).to(x.device)

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator, unused-ignore]
        def backward(ctx: Any, weights: Any) -> Any:
            w = weights.detach().cpu().numpy()
            if function.signals is not None:
                gradient = function.vjp(ctx.argument, w)
            else:
                product = w[..., None] * ctx.jacobian
                inner = tuple(range(ctx.argument.ndim - 1, product.ndim - 1))
                gradient = product.sum(axis=inner) if inner else product
            return torch.from_numpy(np.ascontiguousarray(gradient)).to(weights.device)

    def f(x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            raise TypeError(f"x: expected a torch tensor, not {type(x).__name__}")
        if x.dtype != torch.float64:
            raise InputError(f"x: expected a tensor of float64, not {x.dtype}; convert it by x.double()")
        return Evaluate.apply(x)

    f.__doc__ = f"{', '.join(function.criteria or function.signals or [])} of ({', '.join(function.names[:12])})"
    return f
