"""Values abreast in C: a vector type per width, and how values are put in, taken out and added up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from torseur.graph.abreast import LANE, PACK, TOTAL, vector_width
from torseur.graph.expr import Expr
from torseur.graph.program import Program

GNU = "#if defined(__GNUC__)"
"""Where the compiler has vectors as types."""


@cache
def kind(width: int) -> str:
    """The type of a value with so many lanes."""
    return "double" if width == 1 else f"abreast{vector_width(width)}"


def loaded(width: int, place: str, index: int) -> str:
    """A value in an array, or the vector that begins there."""
    return f"{place}[{index}]" if width == 1 else f"*(const {kind(width)}_at *)({place} + {index})"


def stored(width: int, place: str, index: int, name: str) -> str:
    """A value written into an array, a vector from there on."""
    return f"{place}[{index}] = {name};" if width == 1 else f"*({kind(width)}_at *)({place} + {index}) = {name};"


def lane_operation(node: Expr, arguments: Sequence[str]) -> str | None:
    """A pack, a lane or a total; None for every other operation."""
    if node.op == LANE:
        return f"{arguments[0]}[{node.data}]"
    if node.op == TOTAL:
        return _total([f"{arguments[0]}[{k}]" for k in range(node.data)])
    if node.op != PACK:
        return None
    filled = [*arguments, *[arguments[-1]] * (vector_width(len(arguments)) - len(arguments))]
    return f"({kind(len(arguments))}){{{', '.join(filled)}}}"


def _total(terms: list[str]) -> str:
    """The sum of some values, by halves: first with last half, as processors add parts of vectors."""
    while len(terms) > 1:
        half = (len(terms) + 1) // 2
        sums = [f"({a} + {b})" for a, b in zip(terms, terms[half:], strict=False)]
        terms = [*sums, *terms[len(sums) : half]]
    return terms[0]


def abreast_text(programs: Iterable[Program]) -> str:
    """The vector types of some programs; those that end with _at lie anywhere in arrays."""
    packs = [node for program in programs for node in program.nodes if node.op == PACK]
    lines = []
    for width in sorted({vector_width(len(node.args)) for node in packs}):
        size, name = f"vector_size({8 * width})", kind(width)
        lines.append(f"typedef double {name} __attribute__(({size}));")
        lines.append(f"typedef double {name}_at __attribute__(({size}, aligned(8), may_alias));")
    return "\n".join([GNU, *lines, "#endif", ""]) if lines else ""
