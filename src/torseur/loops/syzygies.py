"""The passage matrix N by standard bases: M N = 0 over the ring of lengths, cosines and sines.

The columns of N generate all polynomial relations between the columns of the constraint matrix M (its syzygies), so
they hold for every value of the coordinates; with `closed`, wherever the loops are closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torseur.loops.exact import PolynomialLoops


@dataclass(frozen=True)
class SyzygyPassage:
    """N as text: a row per coordinate of the tree, a column per motion."""

    coordinates: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def motions(self) -> int:
        return len(self.rows[0]) if self.rows else 0

    def __str__(self) -> str:
        if not self.motions:
            return "no motion is common to all values of the coordinates"
        width = max(len(name) for name in self.coordinates)
        pairs = zip(self.coordinates, self.rows, strict=True)
        lines = [f"  {name:>{width}}'  {' | '.join(row)}" for name, row in pairs]
        return "\n".join(["passage matrix N by syzygies (M N = 0 for all values of the coordinates), by rows:", *lines])


def passage_by_syzygies(loops: PolynomialLoops, closed: bool = False) -> Any:
    """N (SymPy) with M N = 0 for all coordinates, or, with `closed`, modulo the closures too (small loops only)."""
    import sympy as sp

    ring = sp.QQ.old_poly_ring(*loops.variables)
    ideal = [*loops.relations, *(loops.closures if closed else ())]
    quotient = ring / [ring.convert(r) for r in ideal] if ideal else ring
    rows, columns = loops.matrix.shape
    module = quotient.free_module(rows)
    generated = module.submodule(*[[loops.matrix[i, j] for i in range(rows)] for j in range(columns)])
    relations = generated.syzygy_module().gens
    vectors = [[sp.expand(quotient.to_sympy(entry)) for entry in vector] for vector in relations]
    kept = [v for v in vectors if any(entry != 0 for entry in v)]
    return sp.Matrix(columns, len(kept), lambda i, j: kept[j][i])


def written_passage(loops: PolynomialLoops) -> SyzygyPassage:
    """N in the user's names: cos(alpha) for the cosine of the coordinate alpha."""
    matrix = passage_by_syzygies(loops)
    names = _names(loops)
    rows = [[_written(matrix[i, j], names) for j in range(matrix.cols)] for i in range(matrix.rows)]
    return SyzygyPassage(loops.coordinates, tuple(tuple(row) for row in rows))


def _names(loops: PolynomialLoops) -> dict[Any, Any]:
    """What each variable of the ring stands for."""
    import sympy as sp

    shown = {"c_": "cos({})", "s_": "sin({})", "q": "{}"}
    table = {}
    for variable in loops.variables:
        prefix = variable.name.rstrip("0123456789")
        coordinate = loops.coordinates[int(variable.name.removeprefix(prefix))]
        table[variable] = sp.Symbol(shown[prefix].format(coordinate))
    return table


def _written(entry: Any, names: dict[Any, Any]) -> str:
    return str(entry.subs(names, simultaneous=True)).replace("**", "^")
