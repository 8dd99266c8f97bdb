"""Accelerations of the equations without multipliers, each by a formula: one fraction, or one of named entries of M."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from torseur.algebra.graph import Expr, as_expr, jacobian, live_nodes, substitute, symbol
from torseur.algebra.graph.solve import solve_symmetric
from torseur.derivation.equations.elimination import ReducedEquations
from torseur.derivation.equations.terms.common_parts import common_factor
from torseur.derivation.equations.terms.equal_values import merge_equal_values
from torseur.derivation.equations.terms.linear_solution import MOST_UNKNOWNS, Quotient, solve_by_minors
from torseur.derivation.equations.terms.polynomial import TooManyTerms, expression_of, product
from torseur.derivation.equations.terms.short_sum import few_terms, short_expression
from torseur.errors import UnsupportedError
from torseur.presentation.levels.statement import Remark, Statement
from torseur.presentation.typesetting.formula_tree import Name, Node
from torseur.presentation.typesetting.read_graph import quotient_form, read_name, readable_or_literal_form

MOST_SOLVED = 40  # terms of an acceleration that is written as one formula


@dataclass(frozen=True)
class _Block:
    """M u' = f of speeds that no acceleration ties to the others; `places` are theirs among the independent ones."""

    places: tuple[int, ...]
    matrix: tuple[tuple[Expr, ...], ...]
    right: tuple[Expr, ...]


def solved_statements(reduced: ReducedEquations) -> list[Statement]:
    """u' = (NᵀMN)⁻¹ (...), block by block.

    Each is one fraction where that is short. Otherwise it is that of the entries of NᵀMN and of the forces by their
    names, with the determinant of a block named too.
    """
    layout = reduced.equations.layout
    unknown = [layout.accelerations[layout.speeds.index(speed)] for speed in reduced.independent]
    definitions: list[Statement] = []
    solved: dict[int, Statement] = {}
    taken = {str(node.name) for node in live_nodes(reduced.residuals) if node.op == "symbol"}
    for block in _blocks(reduced, unknown):
        names = [str(unknown[k].name) for k in block.places]
        written = _as_fractions(block, names)
        if written is None:
            named, written = _by_names(reduced, block, taken)
            definitions += named
        for place, name, (value, node) in zip(block.places, names, written, strict=True):
            solved[place] = Statement(name, read_name(name), ((node,),), "scalar", ((value,),))
    return [*definitions, *(solved[k] for k in range(len(unknown)))]


def _blocks(reduced: ReducedEquations, unknown: Sequence[Expr]) -> list[_Block]:
    """The equations of motion in parts that share no acceleration."""
    entries = jacobian(list(reduced.residuals), unknown)
    n = len(unknown)
    matrix = [[short_expression(entries.get((i, j), as_expr(0))) for j in range(n)] for i in range(n)]
    right = [-short_expression(r) for r in substitute(list(reduced.residuals), {a: as_expr(0) for a in unknown})]
    left, blocks = set(range(n)), []
    while left:
        part, grown = {min(left)}, set[int]()
        while part != grown:
            grown = part
            part = grown | {j for i in grown for j in range(n) if not (matrix[i][j].is_zero and matrix[j][i].is_zero)}
        left -= part
        places = tuple(sorted(part))
        rows = tuple(tuple(matrix[i][j] for j in places) for i in places)
        blocks.append(_Block(places, rows, tuple(right[i] for i in places)))
    return blocks


def _as_fractions(block: _Block, names: Sequence[str]) -> list[tuple[Expr, Node]] | None:
    """One fraction each, of one denominator where they share it; None where one is long."""
    quotients = solve_by_minors(block.matrix, block.right)
    if quotients is not None:
        short = all(len(own.above) <= MOST_SOLVED for own in quotients)
        return [(own.value, quotient_form(own)) for own in _with_one_denominator(quotients)] if short else None
    if not any(isinstance(n.value, float) for n in live_nodes([*sum(block.matrix, ()), *block.right]) if n.is_constant):
        return None
    solution = solve_symmetric(block.matrix, block.right, names)
    try:
        for value in solution:
            few_terms(value, MOST_SOLVED)
    except TooManyTerms:
        return None
    return [(value, readable_or_literal_form(value)) for value in solution]


def _with_one_denominator(quotients: Sequence[Quotient]) -> list[Quotient]:
    """The fractions with denominators of one value in one writing, the shortest."""
    listed = list(quotients)
    values = merge_equal_values([expression_of(own.below) for own in listed])
    for k, value in enumerate(values):
        same = [own for own, other in zip(quotients, values, strict=True) if other is value]
        shortest = min(same, key=lambda own: Quotient({}, own.below).length)
        listed[k] = replace(listed[k], below=shortest.below)
    return listed


def _by_names(
    reduced: ReducedEquations, block: _Block, taken: set[str]
) -> tuple[list[Statement], list[tuple[Expr, Node]]]:
    """Definitions of M_i_j, f_i and D, and the accelerations in terms of these."""
    if len(block.places) > MOST_UNKNOWNS:
        raise UnsupportedError(
            f"mechanism '{reduced.equations.mechanism.name}': solved for, an acceleration has more than {MOST_SOLVED} "
            "terms. --eliminate shows the equations unsolved; numbers come from the function forward_dynamics."
        )
    names = _Names(taken)
    of_mass, of_force = ("N^T*M*N", "N^T*(Q - b - M*n')") if reduced.speeds else ("M", "Q - b")
    speeds = [str(reduced.independent[k].name) for k in block.places]
    numbers = [place + 1 for place in block.places]
    n = len(numbers)
    matrix = [[as_expr(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            said = f"entry of {of_mass}: {speeds[i]}, {speeds[j]}"
            matrix[i][j] = matrix[j][i] = names.of(block.matrix[i][j], f"M_{numbers[i]}_{numbers[j]}", said)
    right = [
        names.of(value, f"f_{number}", f"{of_force} along {speed}")
        for value, number, speed in zip(block.right, numbers, speeds, strict=True)
    ]
    quotients = solve_by_minors(matrix, right)
    assert quotients is not None, "names are neither rounded nor long"
    written = []
    for own in _with_one_denominator(quotients):
        front = common_factor(own.below)
        rest = {product(term, tuple((f, -e) for f, e in front)): c for term, c in own.below.items()}
        size = names.of(expression_of(rest), "D", f"determinant of {of_mass}")
        one = replace(own, below=few_terms(expression_of({front: 1}) * size))
        written.append((one.value, quotient_form(one)))
    return names.statements, written


@dataclass
class _Names:
    """Names that are given to values, each free in the mechanism; `taken` are in use."""

    taken: set[str]
    given: dict[Expr, Statement] = field(default_factory=dict)

    def of(self, value: Expr, label: str, meaning: str) -> Expr:
        """The symbol of a value; a number, a quantity or a law needs none."""
        if not value.args or value.op == "apply":
            return value
        if value not in self.given:
            while label in self.taken:
                label += "_"
            self.taken.add(label)
            shown = ((readable_or_literal_form(value),),)
            self.given[value] = Statement(
                label, Name(label), shown, "scalar", ((value,),), True, remark=Remark(meaning)
            )  # fmt: skip
        return symbol(self.given[value].name)

    @property
    def statements(self) -> list[Statement]:
        return list(self.given.values())
