"""A straight-line program as a function of CasADi, with our derivatives as its Jacobian."""

from __future__ import annotations

from typing import Any

from torseur.algebra.graph import Expr, Output, Program, as_expr, jacobian
from torseur.computation.codegen.targets.python.python_program import FUNCTIONS, program_source
from torseur.errors import UnsupportedError
from torseur.extras import install_command

# Where CasADi has another word than NumPy.
_WORDS = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "abs": "fabs", "minimum": "fmin",
          "maximum": "fmax", "where": "if_else"}  # fmt: skip


def casadi_program(program: Program, own_jacobian: bool = True) -> Any:
    """The program as a casadi.Function of its inputs, columns; vectors and matrices come back in their shapes.

    Its Jacobian is computed here, entry by entry in one forward sweep, and given to CasADi as the function's own. With
    own_jacobian=False CasADi differentiates the operations: where Hessians of sums are wanted that takes half the time,
    because its reverse sweep never forms the second derivatives of every result (UR5, trapezoidal rule: 6.3 s and not
    11.8 s).
    """
    casadi = _casadi()
    if any(node.op == "table" for node in program.operations):
        raise UnsupportedError(f"{program.name} looks up a table, which CasADi's scalar functions have none of.")
    names = [group.name for group in program.inputs], [output.name for output in program.outputs]
    if not own_jacobian:
        return _function(casadi, program, names[0], names[1], {"never_inline": True}, [])
    derivatives = _function(casadi, _derivative_program(program), [*names[0], *(f"out_{name}" for name in names[1])], [
        f"jac_{output}_{group}" for output in names[1] for group in names[0]
    ], {}, [output.shape for output in program.outputs])  # fmt: skip
    # Not to be taken apart into its operations: CasADi would differentiate these itself.
    options = {"custom_jacobian": derivatives, "never_inline": True, "jac_penalty": 0}
    return _function(casadi, program, names[0], names[1], options, [])


def _function(
    casadi: Any,
    program: Program,
    inputs: list[str],
    outputs: list[str],
    options: dict[str, Any],
    unused: list[tuple[int, ...]],
) -> Any:
    """A function of scalar symbols; `unused` are shapes of inputs behind those of the program."""
    namespace: dict[str, Any] = {name: getattr(casadi, _WORDS.get(name, name)) for name in FUNCTIONS}
    namespace["__builtins__"] = {}
    exec(compile(program_source(program), f"<program {program.name}>", "exec"), namespace)
    given = [casadi.SX.sym(group.name, len(group)) for group in program.inputs]
    results = namespace["program"](*[[column[i] for i in range(column.numel())] for column in given])
    shaped = [_reshape(casadi, entries, output) for entries, output in zip(results, program.outputs, strict=True)]
    # The derivatives of a function take its results too; ours do not need them.
    others = [casadi.SX.sym("result", *_two(shape)) for shape in unused]
    name = "".join(c if c.isalnum() else "_" for c in program.name).strip("_")
    # CasADi allows no two underscores in a row, and none in front.
    while "__" in name:
        name = name.replace("__", "_")
    prefix = "jac_" if unused else ""
    return casadi.Function(prefix + name, [*given, *others], shaped, inputs, outputs, options)


def _reshape(casadi: Any, entries: list[Any], output: Output) -> Any:
    """Entries, row after row, as a column or a matrix; what is zero is left out of its pattern."""
    rows, columns = _two(output.shape)
    matrix = casadi.SX(rows, columns)
    for k, (value, entry) in enumerate(zip(entries, output.entries, strict=True)):
        if not as_expr(entry).is_zero:
            matrix[k // columns, k % columns] = value
    return matrix


def _two(shape: tuple[int, ...]) -> tuple[int, int]:
    if len(shape) > 2:
        raise UnsupportedError(f"CasADi has no arrays with {len(shape)} indices.")
    return (shape[0] if shape else 1, shape[1] if len(shape) == 2 else 1)


def _derivative_program(program: Program) -> Program:
    """d output / d input for every pair, outputs flattened column by column as CasADi does."""
    variables = [x for group in program.inputs for x in group.nodes]
    outputs: list[Output] = []
    zero = as_expr(0)
    for output in program.outputs:
        rows, columns = _two(output.shape)
        # Ours are row by row: entry (i, j) of the output stands at i·columns + j here and at j·rows + i in CasADi.
        order = [i * columns + j for j in range(columns) for i in range(rows)]
        entries: list[Expr] = [as_expr(output.entries[k]) for k in order]
        block = jacobian(entries, variables)
        start = 0
        for group in program.inputs:
            width = len(group)
            flat = [block.get((i, start + j), zero) for i in range(len(entries)) for j in range(width)]
            outputs.append(Output(f"d{output.name}_d{group.name}", (len(entries), width), tuple(flat)))
            start += width
    return Program(program.name, program.inputs, tuple(outputs))


def _casadi() -> Any:
    try:
        import casadi
    except ImportError:
        raise UnsupportedError(f"this needs CasADi: {install_command('casadi')}.") from None
    return casadi
