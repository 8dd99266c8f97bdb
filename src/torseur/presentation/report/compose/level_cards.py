"""The cards of the intrinsic and the recursive level: equations that stand, and definitions that unfold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torseur.algebra.graph import live_nodes
from torseur.derivation.equations import Equations
from torseur.derivation.equations.terms.short_sum import HOPELESS
from torseur.errors import UnsupportedError, counted
from torseur.presentation.levels.intrinsic_form import first_statements
from torseur.presentation.levels.levels import (
    RESIDUAL,
    definition_statements,
    level_by_names,
    recursive_lines,
    recursive_results,
    size_note,
)
from torseur.presentation.levels.statement import Remark, Statement, terms_of
from torseur.presentation.report.page.equation_content import Equation, EquationBlock, Origin, Term
from torseur.presentation.typesetting import mathml
from torseur.presentation.typesetting.formula import Formula, formula
from torseur.presentation.typesetting.formula_tree import Call, Name, Node, children
from torseur.presentation.typesetting.plain_text import plain_text

MOST_LINES = 300
MOST_SYMBOLS = 1200  # of the intrinsic level
LONGEST_DEFINITION = 500  # characters
BY_NAMES = "by named intermediates"
MOST_OPERATIONS = 6000  # of equations that are broken up by intermediates


def intrinsic_block(equations: Equations) -> EquationBlock | None:
    """Forces = inertia as vectors; accelerations and angular velocities unfold step by step."""
    try:
        listed, rest = first_statements(equations, MOST_SYMBOLS)
    except UnsupportedError:
        return None
    shown = [s for s in listed if not s.auxiliary]
    if not shown:
        return None
    # Definitions that the shown equations lead to: the first balances of a long list need few of them.
    used = _reachable([s for s in listed if s.auxiliary and s.shape != "name"], shown)
    folded = [s for s in used if _length(s) <= LONGEST_DEFINITION]
    places = {plain_text(s.left): k for k, s in enumerate(folded)}
    note = (
        "What every joint carries: the force R and moment N through the joint, weights and loads on the left, masses "
        "times accelerations on the right; then the same along each speed, where R and N do no work."
    )
    if rest or len(folded) < len(used):
        rest += len(used) - len(folded)
        note += f" {rest} more or longer equations are not shown; `torseur equations --level intrinsic` prints all."
    return EquationBlock(
        "Intrinsic form",
        "vectors, no components",
        note,
        equations=tuple(_balance(s, places) for s in shown),
        folded=tuple(definition(s, places) for s in folded),
        is_open=False,
        level="intrinsic",
        folded_title="with",
        command="torseur equations --level intrinsic",
    )


# Why definitions follow their equations: docs/decisions/0056-definitions-after-equations.md.
def recursive_block(equations: Equations) -> EquationBlock | None:
    """The forces by the recursion, intermediates by name and folded; long ones are cut."""
    lines = recursive_lines(equations)
    count = len(lines) - len(equations.layout.speeds)
    named = lines[: min(count, MOST_LINES - len(equations.layout.speeds))]
    rest = count - len(named)
    places = {plain_text(line.left): k for k, line in enumerate(named)}
    note = "Forces for given accelerations: velocities and accelerations outward, forces inward."
    if rest > 0:
        note += f" {rest} more lines are not shown; `torseur equations --level recursive` prints all {len(lines)}."
    return EquationBlock(
        "Recursive form",
        counted(len(lines), "line"),
        note,
        equations=tuple(definition(s, places) for s in recursive_results(equations, lines)),
        is_open=False,
        level="recursive",
        folded_title="with",
        command="torseur equations --level recursive",
        names=tuple(formula(line.left) for line in named),
        # Written when the card is opened, or in a second pass: names are quick, their right sides are not.
        write=lambda: tuple(definition(s, places) for s in definition_statements(equations, named)),
    )


def long_block(equations: Equations, level: str, hopeless: int = HOPELESS) -> EquationBlock | None:
    """Equations too long to be multiplied out, by named intermediates that unfold; None beyond what a page can show."""
    if sum(1 for _ in live_nodes(equations.residual)) > MOST_OPERATIONS:
        return None
    lines, listed = level_by_names(equations, level, hopeless)
    shown = [s for s in listed if not (isinstance(s.left, Name) and s.left.dots)]
    results = [one for s in shown for one in _entries(s)]
    named = lines[:MOST_LINES]
    places = {plain_text(line.left): k for k, line in enumerate(named)}
    return EquationBlock(
        f"{level.capitalize()} form",
        BY_NAMES,
        size_note(listed, len(lines)).capitalize(),
        equations=tuple(replace(definition(s, places), title=_along(s)) for s in results),
        level=level,
        folded_title="with",
        command=f"torseur equations --level {level}",
        names=tuple(formula(line.left) for line in named),
        write=lambda: tuple(definition(s, places) for s in definition_statements(equations, named)),
    )


def _along(statement: Statement) -> str:
    """The title of an equation of motion; entries of matrices have none."""
    _, mark, speed = statement.name.partition(RESIDUAL)
    return f"Along {speed}" if mark and statement.shape == "scalar" else ""


def _entries(statement: Statement) -> list[Statement]:
    """The entries of a matrix or vector as statements of their own, those of a symmetric one once, zeros left out."""
    if statement.shape == "scalar":
        return [statement]
    triangle = statement.shape == "matrix"
    return [
        Statement(name, Name(name), ((entry,),), "scalar")
        for i, row in enumerate(statement.rows, 1)
        for j, entry in enumerate(row, 1)
        if plain_text(entry) != "0" and not (triangle and j < i)
        for name in [f"{statement.name}_{i}_{j}" if len(row) > 1 else f"{statement.name}_{i}"]
    ]


def _length(statement: Statement) -> int:
    """Characters of a definition."""
    return len(plain_text(statement.right)) + sum(len(plain_text(entry)) for row in statement.rows for entry in row)


def _reachable(definitions: Sequence[Statement], shown: Sequence[Statement]) -> list[Statement]:
    """The definitions that the shown equations lead to."""
    by_name = {plain_text(one.left): one for one in definitions}
    waiting = [name for one in shown for side in (one.left, one.right) for name in _names(side)]
    names: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in names:
            names.add(name)
            waiting += [inner for row in by_name[name].rows for entry in row for inner in _names(entry)]
    return [one for one in definitions if plain_text(one.left) in names]


def _balance(statement: Statement, places: dict[str, int]) -> Equation:
    left = _terms(statement.left, statement.left_origins, places)
    right = _terms(statement.right, statement.origins, places)
    return Equation(formula(statement.left), right, statement.title, left_terms=left)


def _terms(node: Node, origins: Sequence[Remark], places: dict[str, int]) -> tuple[Term, ...]:
    if not origins:
        return (Term(formula(node)),)
    pairs = zip(terms_of(node), origins, strict=True)
    return tuple(Term(formula(term), _origin(origin), opens=_opens(term, places)) for term, origin in pairs)


def definition(statement: Statement, places: dict[str, int]) -> Equation:
    """left = right as terms; pointing at one tells what the left is."""
    origin = _origin(statement.remark)
    if statement.shape == "components":
        return Equation(formula(statement.left), (Term(bracketed(statement), origin),))
    terms = [Term(formula(node), origin, opens=_opens(node, places)) for node in terms_of(statement.right)]
    return Equation(formula(statement.left), tuple(terms))


def bracketed(statement: Statement) -> Formula:
    """The entries of a vector or matrix in brackets."""
    rows = statement.rows
    lines = [", ".join(map(plain_text, row)) for row in rows]
    text = (
        f"[{', '.join(lines)}]"
        if all(len(row) == 1 for row in rows)
        else f"[{', '.join(f'[{line}]' for line in lines)}]"
    )
    return Formula(mathml.matrix(tuple(tuple(map(mathml.mathml, row)) for row in rows)), text, text)


def _origin(remark: Remark) -> Origin | None:
    text = remark.text[:1].upper() + remark.text[1:]
    return Origin(text, remark.bodies, remark.joints) if text or remark.bodies or remark.joints else None


def _opens(node: Node, places: dict[str, int]) -> tuple[int, ...]:
    """Places of the definitions of what a term is made of."""
    targets = {places[text] for text in _names(node) if text in places}
    return tuple(sorted(targets))


def _names(node: Node) -> set[str]:
    match node:
        case Name():
            return {plain_text(node)}
        case Call(bold=True):
            return {plain_text(node)}
    return {name for one in children(node) for name in _names(one)}
