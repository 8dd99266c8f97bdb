"""A program as a function that frameworks for automatic differentiation can differentiate, any number of times.

Its derivative along tangents of the inputs, J ẋ, and its pull-back of adjoints of the results, Jᵀ w, are programs too,
each made by one sweep over the graph (Griewank and Walther, Evaluating Derivatives, chapter 3) and compiled when it is
first asked for. Both are linear in what was added, and each is the transpose of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, Input, Output, Program, directional_derivative, symbol, weighted_gradient
from torseur.computation.functions.frameworks.array_function import array_function
from torseur.errors import TorseurError


class Differentiable:
    """A program of arrays (..., n) with its derivatives.

    The last `linear` inputs are those in which it is linear; `order` counts how often it was differentiated.
    """

    def __init__(self, program: Program, linear: int = 0, order: int = 0) -> None:
        self.program, self.linear, self.order = program, linear, order
        self.sizes = [len(group) for group in program.inputs]
        self.shapes = [output.shape for output in program.outputs]

    def __repr__(self) -> str:
        return f"{self.program.name}({', '.join(group.name for group in self.program.inputs)})"

    @cached_property
    def tangent(self) -> Differentiable:
        """(x, ẋ) to ẏ = J(x) ẋ; its transpose is the adjoint."""
        tangents = [self._fresh(group.name, "tangent", len(group)) for group in self.program.inputs]
        direction = {
            node: change
            for group, other in zip(self.program.inputs, tangents, strict=True)
            for node, change in zip(group.nodes, other.nodes, strict=True)
        }
        changes = iter(directional_derivative(self._entries, direction))
        outputs = [Output(o.name, o.shape, tuple(next(changes) for _ in o.entries)) for o in self.program.outputs]
        return self._derivative("tangent", tangents, outputs)

    @cached_property
    def adjoint(self) -> Differentiable:
        """(x, w) to x̄ = J(x)ᵀ w, one array per input; its transpose is the tangent."""
        weights = [self._fresh(output.name, "adjoint", len(output)) for output in self.program.outputs]
        variables = [node for group in self.program.inputs for node in group.nodes]
        along = [node for group in weights for node in group.nodes]
        derivatives = iter(weighted_gradient(self._entries, along, variables))
        outputs = [Output(g.name, (len(g),), tuple(next(derivatives) for _ in g.nodes)) for g in self.program.inputs]
        return self._derivative("adjoint", weights, outputs)

    def transpose(self, made: Differentiable) -> Differentiable:
        """Of the tangent of this function the adjoint, and the other way round."""
        return self.adjoint if made is self.tangent else self.tangent

    @property
    def _entries(self) -> list[Expr]:
        return [entry for output in self.program.outputs for entry in output.entries]

    def _fresh(self, name: str, what: str, size: int) -> Input:
        # Symbols are one by their names: the order keeps those of derivatives of derivatives apart.
        stem = f"{name}_{what}{self.order + 1}"
        return Input(stem, tuple(symbol(f"{stem}[{i}]") for i in range(size)))

    def _derivative(self, what: str, added: Sequence[Input], outputs: Sequence[Output]) -> Differentiable:
        program = Program(f"{self.program.name}_{what}", (*self.program.inputs, *added), tuple(outputs))
        return Differentiable(program, len(added), self.order + 1)

    def check(self, arrays: Sequence[Any]) -> tuple[int, ...]:
        """The shape in front of the entries that all inputs have in common, after broadcasting."""
        if len(arrays) != len(self.sizes):
            raise TorseurError(f"{self!r}: takes {len(self.sizes)} arrays, got {len(arrays)}.")
        for group, size, array in zip(self.program.inputs, self.sizes, arrays, strict=True):
            if len(array.shape) < 1 or array.shape[-1] != size:
                raise TorseurError(f"{self!r}: {group.name} has shape {tuple(array.shape)}; expected (..., {size}).")
        try:
            return np.broadcast_shapes(*[tuple(array.shape[:-1]) for array in arrays])
        except ValueError:
            shapes = ", ".join(str(tuple(array.shape)) for array in arrays)
            raise TorseurError(f"{self!r}: the arrays do not go together: {shapes}.") from None

    def on_host(self, arrays: Sequence[Array]) -> list[Array]:
        """Results of NumPy arrays (*front, n), all of one front, in their precision; computed in double precision."""
        front, kind = arrays[0].shape[:-1], arrays[0].dtype
        count = prod(front)
        if not count:
            return [np.empty((*front, *shape), dtype=kind) for shape in self.shapes]
        # One state alone goes into the kernel of one state, which costs a microsecond instead of twenty.
        states = (count,) if count > 1 else ()
        given = [
            np.ascontiguousarray(a, dtype=float).reshape((*states, size))
            for a, size in zip(arrays, self.sizes, strict=True)
        ]
        found = self._host_function(*given)
        results = found if isinstance(found, tuple) else (found,)
        return [
            np.asarray(r, dtype=kind).reshape((*front, *shape)) for r, shape in zip(results, self.shapes, strict=True)
        ]

    def on_device(self, arrays: Sequence[Any], double: bool) -> list[Any]:
        """Results of arrays (*front, n) on an NVIDIA GPU, any that speak DLPack, as CuPy arrays there."""
        kernel = self._device_kernel(double)
        import cupy

        front = tuple(arrays[0].shape[:-1])
        count = prod(front)
        if not count:
            kind = np.float64 if double else np.float32
            return [cupy.empty((*front, *shape), dtype=kind) for shape in self.shapes]
        columns = [cupy.from_dlpack(a).reshape(count, size).T for a, size in zip(arrays, self.sizes, strict=True)]
        results = list(kernel(*columns).values())
        return [cupy.ascontiguousarray(cupy.moveaxis(r, -1, 0)).reshape((*front, *shape))
                for r, shape in zip(results, self.shapes, strict=True)]  # fmt: skip

    @cached_property
    def _host_function(self) -> Any:
        return array_function(self.program, {}, repr(self))

    def _device_kernel(self, double: bool) -> Any:
        from torseur.computation.codegen.targets.cuda.cuda_kernel import CudaKernel

        made = self.__dict__.setdefault("_device_kernels", {})
        if double not in made:
            made[double] = CudaKernel(self.program, (), "float64" if double else "float32")
        return made[double]
