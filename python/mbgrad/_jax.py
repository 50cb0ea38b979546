"""Functions of a model for JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ._errors import InputError
from ._function import Function
from ._native import need


def jax_function(function: Function) -> Callable[[Any], Any]:
    """Return a JAX function: its derivative is the Jacobian of the library, forward and backward."""
    jax = need("jax", "model.jax()")
    jnp = need("jax.numpy", "model.jax()")
    if not jax.config.jax_enable_x64:
        raise InputError('JAX works with 32-bit numbers: call jax.config.update("jax_enable_x64", True) first')
    shape = function.shape
    product = _signal_product(function, jax, jnp) if function.signals is not None else None

    def value(x: Any) -> Any:
        return np.asarray(function(np.asarray(x)), dtype=np.float64)

    @jax.custom_jvp  # type: ignore[untyped-decorator, unused-ignore]
    def f(x: Any) -> Any:
        x = jnp.asarray(x, dtype=jnp.float64)
        if x.shape != (function.size,):
            raise ValueError(f"x: expected {function.size} numbers ({', '.join(function.names)}), not {x.shape}")
        return jax.pure_callback(value, jax.ShapeDtypeStruct(shape, jnp.float64), x, vmap_method="broadcast_all")

    @f.defjvp  # type: ignore[untyped-decorator, unused-ignore]
    def f_jvp(primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        x = jnp.asarray(x, dtype=jnp.float64)
        if product is not None:
            return f(x), product(x, dx)
        y, j = _value_and_jacobian(function, jax, jnp, x)
        return y, jnp.tensordot(j, dx, axes=1)

    f.__doc__ = f"{', '.join(function.criteria or function.signals or [])} of ({', '.join(function.names[:12])})"
    return f  # type: ignore[no-any-return, unused-ignore]


def _value_and_jacobian(function: Function, jax: Any, jnp: Any, x: Any) -> Any:
    def call(x: Any) -> Any:
        y, j = function.value_and_jacobian(np.asarray(x))
        return np.asarray(y, dtype=np.float64), j

    shape = (*x.shape[:-1], *function.shape)
    types = jax.ShapeDtypeStruct(shape, jnp.float64), jax.ShapeDtypeStruct((*shape, function.size), jnp.float64)
    return jax.pure_callback(call, types, x, vmap_method="broadcast_all")


def _signal_product(function: Function, jax: Any, jnp: Any) -> Callable[[Any, Any], Any]:
    """Return the product of the Jacobian of signals with a direction; JAX transposes it into the adjoint.

    x and direction (..., arguments), product (..., *shape).
    """
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    inner = len(function.shape)
    push_p, pull_p = Primitive("mbgrad_push"), Primitive("mbgrad_pull")

    def times(j: Any, dx: Any) -> Any:
        return jnp.sum(j * dx.reshape(*dx.shape[:-1], *(1,) * inner, function.size), axis=-1)

    def push(x: Any, dx: Any) -> Any:
        return times(_value_and_jacobian(function, jax, jnp, x)[1], dx)

    def pull(x: Any, w: Any) -> Any:
        def call(x: Any, w: Any) -> Any:
            return function.vjp(np.asarray(x), np.asarray(w))

        return jax.pure_callback(call, jax.ShapeDtypeStruct(x.shape, jnp.float64), x, w, vmap_method="broadcast_all")

    def batch(primitive: Any, arguments: Any, dims: Any) -> Any:
        size = next(a.shape[d] for a, d in zip(arguments, dims, strict=True) if d is not None)
        x, other = arguments
        if primitive is push_p and dims[0] is None:  # one Jacobian for many directions
            return times(_value_and_jacobian(function, jax, jnp, x)[1], jnp.moveaxis(other, dims[1], 0)), 0
        moved = [
            jnp.broadcast_to(a, (size, *a.shape)) if d is None else jnp.moveaxis(a, d, 0)
            for a, d in zip(arguments, dims, strict=True)
        ]
        return primitive.bind(*moved), 0

    for primitive, body in ((push_p, push), (pull_p, pull)):
        primitive.def_impl(body)
        mlir.register_lowering(primitive, mlir.lower_fun(body, multiple_results=False))
        batching.primitive_batchers[primitive] = functools.partial(batch, primitive)
    push_p.def_abstract_eval(lambda x, dx: jax.core.ShapedArray((*x.shape[:-1], *function.shape), jnp.float64))
    pull_p.def_abstract_eval(lambda x, w: jax.core.ShapedArray(x.shape, jnp.float64))
    ad.primitive_transposes[push_p] = lambda w, x, dx: (
        (None, ad.Zero(dx.aval)) if type(w) is ad.Zero else (None, pull_p.bind(x, w))
    )
    return push_p.bind  # type: ignore[no-any-return, unused-ignore]
