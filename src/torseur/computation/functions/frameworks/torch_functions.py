"""Functions of a mechanism for PyTorch, with our derivatives, any number of times."""

from __future__ import annotations

from functools import cache
from typing import Any

from torseur.algebra.graph import Program
from torseur.computation.functions.frameworks.differentiable import Differentiable
from torseur.computation.functions.frameworks.requested_program import requested_program
from torseur.derivation.equations import Equations
from torseur.description.mechanism import Mechanism
from torseur.errors import TorseurError, UnsupportedError


class TorchFunction:
    """A function of tensors (..., n), an argument per input; gives a tensor, or a tuple of several.

    It is computed by compiled code: on the host in threads, or where the tensors lie on a GPU (which needs CuPy).
    backward(), gradients of gradients, torch.func.vmap, jacrev and jvp all work.
    """

    def __init__(self, differentiable: Differentiable) -> None:
        self.differentiable = differentiable
        self.inputs = tuple(group.name for group in differentiable.program.inputs)

    def __repr__(self) -> str:
        return f"TorchFunction({self.differentiable!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.differentiable.program,)

    def __call__(self, *values: Any) -> Any:
        import torch

        for value in values:
            if not isinstance(value, torch.Tensor) or value.dtype not in (torch.float64, torch.float32):
                what = value.dtype if isinstance(value, torch.Tensor) else type(value).__name__
                raise TorseurError(f"{self!r}: takes tensors of float64 or float32, got {what}.")
        if len({(value.dtype, value.device) for value in values}) > 1:
            kinds = ", ".join(f"{value.dtype} on {value.device}" for value in values)
            raise TorseurError(f"{self!r}: the tensors must be of one type and on one device, got {kinds}.")
        front = self.differentiable.check(values)
        # Broadcast here, so that PyTorch adds the gradients of what was given once.
        results = _operation().apply(self.differentiable, *[value.expand(*front, -1) for value in values])
        return results[0] if len(results) == 1 else results


def torch_function(model: Mechanism | Equations | Program, request: str = "", *, live: bool = False) -> TorchFunction:
    """A function of a mechanism, or a program, of PyTorch tensors, with our derivatives.

    torch_function(arm, "forward_dynamics")(q, v, tau) of tensors (..., n), in double or single precision; the names of
    functions are those of `compile`. Parameters have the values of the mechanism; with live=True they are an input, p.
    """
    try:
        import torch  # noqa: F401
    except ImportError:
        raise UnsupportedError("this needs PyTorch: see https://pytorch.org for how to install it.") from None
    return TorchFunction(Differentiable(requested_program(model, request, live)))


def _restore(program: Program) -> TorchFunction:
    return TorchFunction(Differentiable(program))


@cache
def _operation() -> Any:
    """The autograd function; a class of PyTorch, so that it is made when PyTorch is there."""
    import torch

    class Operation(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(of: Differentiable, *values: Any) -> Any:
            if values[0].is_cuda:
                return _on_device(of, values)
            arrays = of.on_host([value.detach().numpy() for value in values])
            return tuple(torch.from_numpy(array) for array in arrays)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.of, values = inputs[0], inputs[1:]
            ctx.save_for_backward(*values)
            ctx.save_for_forward(*values)

        @staticmethod
        def backward(ctx: Any, *weights: Any) -> Any:
            front = len(ctx.saved_tensors[0].shape) - 1
            flat = [weight.flatten(front) if weight.dim() > front else weight[..., None] for weight in weights]
            return None, *Operation.apply(ctx.of.adjoint, *ctx.saved_tensors, *flat)

        @staticmethod
        def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
            values = ctx.saved_tensors
            moved = [torch.zeros_like(x) if t is None else t for x, t in zip(values, tangents, strict=True)]
            return Operation.apply(ctx.of.tangent, *values, *moved)

        @staticmethod
        def vmap(info: Any, dims: Any, of: Differentiable, *values: Any) -> Any:
            moved = [
                value.expand(info.batch_size, *value.shape) if d is None else value.movedim(d, 0)
                for value, d in zip(values, dims[1:], strict=True)
            ]
            return Operation.apply(of, *moved), (0,) * len(of.shapes)

    return Operation


def _on_device(of: Differentiable, values: Any) -> Any:
    """On the tensors' GPU, in the order of PyTorch's own work there."""
    import cupy
    import torch

    device = values[0].device
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream(device).cuda_stream)
    with cupy.cuda.Device(device.index or 0), stream:
        results = of.on_device([value.detach().contiguous() for value in values], values[0].dtype == torch.float64)
        return tuple(torch.from_dlpack(result) for result in results)
