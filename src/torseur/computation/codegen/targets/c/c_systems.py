"""Linear systems with many right sides in C: vectors of columns, eliminated inward along the tree, solved outward."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.graph.program import COLUMNS, Block, Program, Solved
from torseur.computation.codegen.sources.identifiers import Names, part
from torseur.computation.codegen.straight_line import array_names
from torseur.computation.codegen.targets.c.c_spelling import RESERVED, double, parameter_list

_STAGES = {"right", "lower", "inverse", "known", "from", "to", "x", "count", "column", "width"}


def system_source(program: Program, solved: Solved, name: str, linkage: str) -> str:
    """The function NAME from NAME_terms: the system solved block by block, straight into the results."""
    n = len(solved.program.output("inverse"))
    kinds = list(dict.fromkeys(block.rows for block in solved.blocks))
    inward = [_inward(solved, rows, n, part(f"{name}_inward", k)) for k, rows in enumerate(kinds)]
    fixed = [_constants(block, part(f"{name}_fixed", k)) for k, block in enumerate(solved.blocks) if block.fixed]
    return "\n".join([*inward, _outward(solved, n, f"{name}_outward"), *fixed, _caller(program, solved, name, linkage)])


# A = Lᵀ D L with unit lower L (Featherstone 2005), so that  A x = b  is
#     Lᵀ y = b   from the last row up (inward along the tree),    D z = y,    L x = z   from the first row down.
# Columns of b stand in vectors, LANES at a time.
def _inward(solved: Solved, rows: tuple[int, ...], n: int, name: str) -> str:
    """x <- L⁻ᵀ of a block: from the last row up, each row is taken out of those that carry it."""
    head = (
        f"static TORSEUR_NOINLINE void {name}(const double *restrict lower, const double *restrict from, lanes *x) {{"
    )
    lines = [head, *(f"  lanes x{k} = lanes_load(from + {COLUMNS * e});" for e, k in enumerate(rows))]
    # Lᵀ x = b by columns of Lᵀ, the rows of L: only rows of the limb and its trunk, since a column is zero in all
    # other limbs (its time: docs/decisions/0012).
    entries = list(enumerate(solved.pattern))
    for k in reversed(rows):
        lines += [f"  x{i} -= lower[{e}] * x{k};" for e, (row, i) in entries if row == k]
    lines += [f"  x[{k}] = {f'x{k}' if k in rows else '(lanes){0}'};" for k in range(n)]
    return "\n".join([*lines, "}", ""])


# The sign is that of derivatives: ∂v̇/∂y = -A⁻¹ ∂r/∂y, with r the residual of the equations.
def _outward(solved: Solved, n: int, name: str) -> str:
    """to <- -L⁻¹ D⁻¹ x, row by row."""
    head = (
        f"static TORSEUR_NOINLINE void {name}(const double *restrict lower, const double *restrict inverse, "
        "const lanes *x, double *restrict to, int width, int count) {"
    )
    lines = [head]
    entries = list(enumerate(solved.pattern))
    for k in range(n):
        lines.append(f"  lanes x{k} = x[{k}] * -inverse[{k}];")
        lines += [f"  x{k} -= lower[{e}] * x{i};" for e, (row, i) in entries if row == k]
        lines.append(f"  lanes_store_some(to + {k} * width, x{k}, count);")
    return "\n".join([*lines, "}", ""])


def _constants(block: Block, name: str) -> str:
    numbers = ", ".join(double(number) for number in block.fixed)
    return f"static const double {name}[{len(block.fixed)}] = {{{numbers}}};"


def _caller(program: Program, solved: Solved, name: str, linkage: str) -> str:
    arrays = array_names(program, Names(RESERVED | _STAGES))
    given, outputs = arrays[: len(program.inputs)], arrays[len(program.inputs) :]
    sizes = {output.name: len(output) for output in solved.program.outputs}
    head = f"{linkage} void {name}({', '.join(parameter_list(arrays, len(given)))}) {{"
    lines = [head, *(f"  double {array}[{max(size, 1)}];" for array, size in sizes.items())]
    lines += [f"  lanes x[{sizes['inverse']}];", f"  {name}_terms({', '.join([*given, *sizes])});"]
    lines += [f"  {outputs[k]}[{i}] = known[{e}];" for e, (k, i) in enumerate(solved.places)]
    return "\n".join([*lines, *_blocks(program, solved, outputs, name), "}", ""])


def _blocks(program: Program, solved: Solved, outputs: Sequence[str], name: str) -> list[str]:
    kinds = {rows: k for k, rows in enumerate(dict.fromkeys(block.rows for block in solved.blocks))}
    lines = []
    for b, block in enumerate(solved.blocks):
        shape = program.outputs[block.output].shape
        width = shape[-1] if len(shape) > 1 else 1
        source = part(f"{name}_fixed", b) if block.fixed else f"right + {block.start}"
        rest = f"{block.count} - column < LANES ? {block.count} - column : LANES"
        inward = part(f"{name}_inward", kinds[block.rows])
        to = f"{outputs[block.output]} + {block.column} + column"
        lines += [
            f"  for (int column = 0; column < {block.count}; column += LANES) {{",
            f"    {inward}(lower, {source} + column, x);",
            f"    {name}_outward(lower, inverse, x, {to}, {width}, {rest});",
            "  }",
        ]
    return lines
