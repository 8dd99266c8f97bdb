"""Values abreast in C: a vector type per width, and how values are put in, taken out and added up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torseur.graph.abreast import LANE, PACK, TOTAL, vector_width
from torseur.graph.expr import Expr
from torseur.graph.program import Program


def kind(width: int) -> str:
    """The type of a value with so many lanes."""
    return "double" if width == 1 else f"abreast{vector_width(width)}"


def loaded(width: int, place: str, index: int) -> str:
    """A value in an array, or the vector that begins there."""
    return f"{place}[{index}]" if width == 1 else f"{kind(width)}_load({place} + {index})"


def stored(width: int, place: str, index: int, name: str) -> str:
    return f"{place}[{index}] = {name};" if width == 1 else f"{kind(width)}_store({place} + {index}, {name});"


def lane_operation(node: Expr, arguments: Sequence[str]) -> str | None:
    """A pack, a lane or a total; None for every other operation."""
    if node.op == LANE:
        return f"{arguments[0]}[{node.data}]"
    if node.op == TOTAL:
        return f"total_of_{node.data}({arguments[0]})"
    if node.op != PACK:
        return None
    filled = [*arguments, *[arguments[-1]] * (vector_width(len(arguments)) - len(arguments))]
    return f"({kind(len(arguments))}){{{', '.join(filled)}}}"


def abreast_text(programs: Iterable[Program]) -> str:
    """The vector types of some programs, and their functions."""
    nodes = [node for program in programs for node in program.operations]
    counts = sorted({len(node.args) for node in nodes if node.op == PACK})
    totals = sorted({node.data for node in nodes if node.op == TOTAL})
    types = [_type(width) for width in dict.fromkeys(map(vector_width, counts))]
    return "\n".join([*types, *(_total(count) for count in totals)])


def _type(width: int) -> str:
    name = kind(width)
    return f"""\
typedef double {name} __attribute__((vector_size({8 * width})));

static TORSEUR_INLINE {name} {name}_load(const double *from) {{
  {name} x;
  memcpy(&x, from, sizeof x);
  return x;
}}

static TORSEUR_INLINE void {name}_store(double *to, {name} x) {{ memcpy(to, &x, sizeof x); }}
"""


def _total(count: int) -> str:
    """The sum of the first lanes, by halves as far as that goes."""
    terms = [f"x[{k}]" for k in range(count)]
    while len(terms) > 1:
        half = (len(terms) + 1) // 2
        terms = [*(f"({a} + {b})" for a, b in zip(terms, terms[half:], strict=False)), *terms[len(terms) - half : half]]
    return f"static TORSEUR_INLINE double total_of_{count}({kind(count)} x) {{ return {terms[0]}; }}\n"
