"""Functions of a mechanism for JAX, with our derivatives, any number of times."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from torseur.algebra.graph import Program
from torseur.computation.functions.frameworks.differentiable import Differentiable
from torseur.computation.functions.frameworks.requested_program import requested_program
from torseur.derivation.equations import Equations
from torseur.description.mechanism import Mechanism
from torseur.errors import UnsupportedError


def jax_function(
    model: Mechanism | Equations | Program, request: str = "", *, live: bool = False
) -> Callable[..., Any]:
    """A function of a mechanism, or a program, of JAX arrays, with our derivatives.

    jax_function(arm, "forward_dynamics")(q, v, tau) of arrays (..., n); the names of functions are those of `compile`.
    jit, vmap, grad, jacfwd, jacrev and hessian all work. Compiled code on the host computes it, called back by what XLA
    makes; arrays on a GPU that are not traced stay there (which needs CuPy). Parameters have the values of the
    mechanism; with live=True they are an input, p. Enable double precision: jax.config.update("jax_enable_x64", True).
    """
    try:
        import jax.numpy as jnp
    except ImportError:
        raise UnsupportedError("this needs JAX: see https://docs.jax.dev for how to install it.") from None
    differentiable = Differentiable(requested_program(model, request, live))

    def function(*values: Any) -> Any:
        arrays = [jnp.asarray(value) for value in values]
        kind = jnp.result_type(*arrays, jnp.float32)
        front = differentiable.check(arrays)
        # Broadcast here, so that JAX adds the gradients of what was given once.
        wide = [jnp.broadcast_to(a, (*front, a.shape[-1])).astype(kind) for a in arrays]
        results = _primitive().bind(*wide, of=differentiable, source=None)
        return results[0] if len(results) == 1 else tuple(results)

    function.__doc__ = f"{differentiable!r} of arrays (..., n)."
    return function


@cache
def _primitive() -> Any:
    """The operation, with JAX's rules for it: a primitive, because its derivative is linear and has a transpose."""
    import jax
    from jax.core import ShapedArray
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    operation = Primitive("torseur")
    operation.multiple_results = True

    def results_of(of: Differentiable, front: tuple[int, ...], kind: Any, make: Callable[..., Any]) -> list[Any]:
        return [make((*front, *shape), kind) for shape in of.shapes]

    def abstract(*values: Any, of: Differentiable, source: Differentiable | None) -> list[Any]:
        return results_of(of, values[0].shape[:-1], values[0].dtype, ShapedArray)

    def traced(*values: Any, of: Differentiable, source: Differentiable | None) -> Any:
        shapes = results_of(of, values[0].shape[:-1], values[0].dtype, jax.ShapeDtypeStruct)
        return jax.pure_callback(partial(_on_host, of), shapes, *values)

    def at_once(*values: Any, of: Differentiable, source: Differentiable | None) -> list[Any]:
        values = tuple(map(jax.numpy.asarray, values))  # constants of jax 0.11 are on no device yet
        if all(device.platform in ("gpu", "cuda") for value in values for device in value.devices()):
            found = of.on_device(values, values[0].dtype == np.float64)
            return [jax.numpy.from_dlpack(result) for result in found]
        return [jax.numpy.asarray(array) for array in _on_host(of, *values)]

    def along(values: Any, tangents: Any, *, of: Differentiable, source: Differentiable | None) -> Any:
        moved = [ad.instantiate_zeros(tangent) for tangent in tangents]
        results = operation.bind(*values, of=of, source=source)
        return results, operation.bind(*values, *moved, of=of.tangent, source=of)

    def backwards(weights: Any, *values: Any, of: Differentiable, source: Differentiable) -> list[Any]:
        """J ẋ becomes Jᵀ w, or the other way round; `source` is the function of which J is the derivative."""
        known, linear = values[: -of.linear], values[-of.linear :]
        front = known[0].shape[:-1]
        flat = [ad.instantiate_zeros(weight).reshape((*front, -1)) for weight in weights]
        gradients = operation.bind(*known, *flat, of=source.transpose(of), source=source)
        return [None] * len(known) + [
            gradient.reshape(value.aval.shape) if ad.is_undefined_primal(value) else None
            for gradient, value in zip(gradients, linear, strict=True)
        ]

    def over_batches(values: Any, axes: Any, *, of: Differentiable, source: Differentiable | None) -> Any:
        size = next(v.shape[a] for v, a in zip(values, axes, strict=True) if a is not None)
        moved = [
            jax.numpy.broadcast_to(v, (size, *v.shape)) if a is None else jax.numpy.moveaxis(v, a, 0)
            for v, a in zip(values, axes, strict=True)
        ]
        return operation.bind(*moved, of=of, source=source), [0] * len(of.shapes)

    operation.def_impl(at_once)
    operation.def_abstract_eval(abstract)
    mlir.register_lowering(operation, mlir.lower_fun(traced, multiple_results=True))
    ad.primitive_jvps[operation] = along
    ad.primitive_transposes[operation] = backwards
    batching.primitive_batchers[operation] = over_batches
    return operation


def _on_host(of: Differentiable, *values: Any) -> Any:
    return of.on_host([np.asarray(value) for value in values])
