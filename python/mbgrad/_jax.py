"""Functions of a model for JAX."""

from __future__ import annotations

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
    value_type = jax.ShapeDtypeStruct(shape, jnp.float64)
    jacobian_type = jax.ShapeDtypeStruct((*shape, function.size), jnp.float64)

    def value(x: Any) -> Any:
        return np.asarray(function(np.asarray(x)), dtype=np.float64)

    def value_and_jacobian(x: Any) -> Any:
        y, j = function.value_and_jacobian(np.asarray(x))
        return np.asarray(y, dtype=np.float64), j

    @jax.custom_jvp  # type: ignore[untyped-decorator, unused-ignore]
    def f(x: Any) -> Any:
        x = jnp.asarray(x, dtype=jnp.float64)
        if x.shape != (function.size,):
            raise ValueError(f"x: expected {function.size} numbers ({', '.join(function.names)}), not {x.shape}")
        return jax.pure_callback(value, value_type, x, vmap_method="broadcast_all")

    @f.defjvp  # type: ignore[untyped-decorator, unused-ignore]
    def f_jvp(primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        x = jnp.asarray(x, dtype=jnp.float64)
        y, j = jax.pure_callback(value_and_jacobian, (value_type, jacobian_type), x, vmap_method="broadcast_all")
        return y, jnp.tensordot(j, dx, axes=1)

    f.__doc__ = f"{', '.join(function.criteria or function.signals or [])} of ({', '.join(function.names[:12])})"
    return f  # type: ignore[no-any-return, unused-ignore]
