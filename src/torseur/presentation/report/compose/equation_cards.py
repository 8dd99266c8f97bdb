"""The cards of equations: matrices, every term by origin, rates, and the recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.algebra.graph import Expr
from torseur.derivation.equations import Equations
from torseur.derivation.equations.terms.origins import INERTIA, Shares
from torseur.derivation.equations.terms.polynomial import TooManyTerms
from torseur.derivation.equations.terms.short_sum import HOPELESS, few_terms, written_sizes
from torseur.derivation.tree import GROUND
from torseur.errors import TorseurError, counted, unknown_name
from torseur.presentation.levels.conditions import legend
from torseur.presentation.levels.levels import LEVELS
from torseur.presentation.levels.term_origins import TermOrigins
from torseur.presentation.report.compose.derivation_cards import (
    DEFAULT_STUDY,
    SensitivityStudy,
    derivation_block,
    generation_block,
    reduced_block,
    sensitivity_blocks,
)
from torseur.presentation.report.compose.level_cards import MOST_LINES, intrinsic_block, long_block, recursive_block
from torseur.presentation.report.compose.term_values import (
    ROW_LIMIT,
    TOTAL_LIMIT,
    VALUES_LIMIT,
    ZERO,
    Samples,
    SharedTerm,
    equation,
    row_terms,
)
from torseur.presentation.report.page.equation_content import Equation, EquationBlock, Matrix, Origin, Term
from torseur.presentation.typesetting.formula import Formula, formula, name_formula
from torseur.presentation.typesetting.read_graph import read_name as name_node
from torseur.presentation.typesetting.read_graph import term
from torseur.presentation.typesetting.reading_order import term_key
from torseur.presentation.typesetting.recursion import definitions

LARGEST_MATRIX = 40  # beyond, M is not shown at all
# Characters of all cards of a page; beyond, it takes longer to open than anybody reads. A small mechanism's page stays
# under 500 kB with its scripts, fonts and curves, that of twenty bodies under 2 MB.
SMALL_PAGE, LARGE_PAGE = 160_000, 1_000_000
SMALL, PER_BODY = 5, 75_000
MOST_OPEN = 150_000  # of a card that stands open, which is read first
LEAST_CLOSED = 60_000  # of all closed cards


@dataclass(frozen=True)
class Blocks:
    """The cards of one mechanism's equations; `samples` gives terms their values, where a motion is known.

    Rows of more than `hopeless` operations are not tried to be written as sums of terms.
    """

    equations: Equations
    samples: Samples | None
    hopeless: int = HOPELESS
    source: Equations | None = None
    """The equations with their laws and formulas put in, where these have names in `equations`."""
    study: SensitivityStudy = DEFAULT_STUDY

    def all(self) -> tuple[EquationBlock, ...]:
        """The cards that have something to show."""
        cards = [
            intrinsic_block(self.equations),
            recursive_block(self.equations),
            self.compact(),
            self.expanded_form(),
            self.constraints(),
            self.rates(),
            self.formulas(),
        ]
        written = [block.complete() for block in (*cards, *self.further()) if block is not None]
        more = max(0, len(self.equations.mechanism.bodies) - SMALL) * PER_BODY
        read_first = sum(min(block.markup, MOST_OPEN) for block in written if block.is_open)
        rest = max(min(SMALL_PAGE + more, LARGE_PAGE) - read_first, LEAST_CLOSED)
        most = fair_share([block.markup for block in written if not block.is_open], rest)
        return tuple(block.within(MOST_OPEN if block.is_open else most) for block in written)

    def further(self) -> tuple[EquationBlock, ...]:
        """The cards of what stands behind the equations and beside them, closed."""
        if self.source is None:
            return ()
        cards = (
            reduced_block(self.source),
            derivation_block(self.source),
            generation_block(self.source),
            *sensitivity_blocks(self.source, self.study),
        )
        return tuple(block for block in cards if block is not None)

    def at_level(self, level: str) -> tuple[EquationBlock, ...]:
        """The cards of one level of detail, then the constraints and rates, which belong to every level.

        What is too long to be multiplied out is broken up by named intermediates; their definitions may still have to
        be written (`EquationBlock.complete`).
        """
        if level not in LEVELS:
            raise TorseurError(unknown_name("level", level, LEVELS))
        cards: dict[str, Callable[[], list[EquationBlock | None]]] = {
            "intrinsic": lambda: [intrinsic_block(self.equations)],
            "recursive": lambda: [recursive_block(self.equations)],
            "matrix": lambda: [
                self.compact(),
                None if self.terms is not None else long_block(self.equations, level, self.hopeless),
            ],
            "scalar": lambda: [self.expanded_form() or long_block(self.equations, level, self.hopeless)],
        }
        shown = [*cards[level](), self.constraints(), self.rates(), self.formulas()]
        return tuple(replace(block, is_open=True) for block in shown if block is not None)

    @cached_property
    def shares(self) -> Shares:
        return Shares(self.equations)

    @cached_property
    def terms(self) -> list[list[SharedTerm]] | None:
        """The terms of every equation; None when they are too many to read."""
        rows: list[list[SharedTerm]] = []
        if self._fewest_terms > TOTAL_LIMIT or max(written_sizes(self.equations.residual), default=0) > self.hopeless:
            return None
        try:
            for row in range(len(self.equations.layout.speeds)):
                rows.append(row_terms(self.shares.all, row))
                if sum(map(len, rows)) > TOTAL_LIMIT or len(rows[-1]) > ROW_LIMIT:
                    return None
        except TooManyTerms:
            return None
        return rows

    @property
    def _fewest_terms(self) -> int:
        """How many terms there are at least: a body with mass couples the speeds on its path, a third of them truly."""
        tree = self.equations.tree
        heavy = [
            tree.places[b.name][0] for b in tree.mechanism.bodies if b.solids or b.mass is None or not b.mass.is_zero
        ]
        speeds = [sum(len(tree.links[k].symbols.speeds) for k in tree.path(link)) for link in heavy if link != GROUND]
        return sum(count * count for count in speeds) // 3

    def compact(self) -> EquationBlock | None:
        """M v' = f, the entries folded."""
        n = len(self.equations.layout.speeds)
        if not 0 < n <= LARGEST_MATRIX:
            return None
        accelerations = [formula(name_node(str(a.name))) for a in self.equations.layout.accelerations]
        line = (
            Matrix(name_formula("M", bold=True), self._mass_entries()),
            Matrix(name_formula("v", 1, bold=True), tuple((a,) for a in accelerations)),
            "=",
            Matrix(name_formula("f", bold=True), tuple((name_formula(f"f_{i + 1}"),) for i in range(n))),
        )
        folded = self._fold_matrix()
        return EquationBlock(
            "Compact form",
            "matrix, entries folded",
            line=line,
            folded=folded,
            level="matrix",
            command="torseur equations",
        )

    def _mass_entries(self) -> tuple[tuple[Formula, ...], ...]:
        """Names of the entries of M, 0 where there is nothing."""
        rows = self.equations.mass_matrix
        return tuple(
            tuple(ZERO if entry.is_zero else name_formula(self._entry_name(i, j)) for j, entry in enumerate(row))
            for i, row in enumerate(rows)
        )

    def _entry_name(self, i: int, j: int) -> str:
        first, second = min(i, j) + 1, max(i, j) + 1
        return f"M_{first}{second}" if len(self.equations.layout.speeds) < 10 else f"M_{first}_{second}"

    def _fold_matrix(self) -> tuple[Equation, ...]:
        try:
            return tuple(self._entries()) if self.terms is not None else ()
        except TooManyTerms:
            return ()

    def _entries(self) -> Iterator[Equation]:
        """M by bodies, upper triangle, then f = Q - b by shares."""
        bodies = [share.owner for share in self.shares.all if share.kind == INERTIA]
        matrices = {body: self.shares.mass_matrix(body) for body in bodies}
        for i, row in enumerate(self.equations.mass_matrix):
            for j in range(i, len(row)):
                parts = [t for body in bodies for t in _body_terms(matrices[body][i][j], body)]
                if parts:
                    yield Equation(name_formula(self._entry_name(i, j)), tuple(parts))
        assert self.terms is not None
        for i, terms in enumerate(self.terms):
            yield Equation(name_formula(f"f_{i + 1}"), tuple(_opposite(t) for t in terms if t.share.kind != INERTIA))

    def expanded_form(self) -> EquationBlock | None:
        """Every term of every equation, like ones added up."""
        if self.terms is None:
            return None
        samples = self.samples if sum(map(len, self.terms)) <= VALUES_LIMIT else None
        origins = TermOrigins(self.equations)
        try:
            shown = [equation(origins, row, samples) for row in range(len(self.terms))]
        except TooManyTerms:
            return None
        return EquationBlock(
            "Expanded form", "every term, by origin", equations=tuple(shown), level="scalar",
            command="torseur equations --level scalar",
        )  # fmt: skip

    def constraints(self) -> EquationBlock | None:
        """What closes the loops and holds the constraints: 0 = Φ(q, t), or a condition on the speeds."""
        rows = [_Row(ZERO, one.residual, f"{one.name} ({one.kind})") for one in self.equations.constraints]
        if not rows:
            return None
        note = "With the multipliers λ of these equations as unknowns beside the accelerations."
        return EquationBlock(
            "Constraints", counted(len(rows), "equation"), note, equations=_equations(rows), command="torseur equations"
        )

    def formulas(self) -> EquationBlock | None:
        """Laws and parameters that formulas define, which the equations mention by name."""
        listed = legend(self.source, multipliers=False) if self.source is not None else []
        shown = [
            Equation(formula(one.left), (Term(formula(one.right)),), one.remark.meaning, one.remark.unit)
            for one in listed
            if one.shape == "scalar"
        ]
        if not shown:
            return None
        return EquationBlock("Laws and formulas", counted(len(shown), "definition"), equations=tuple(shown))

    def rates(self) -> EquationBlock | None:
        """q' by the speeds, where they are not the speeds themselves."""
        layout = self.equations.layout
        pairs = zip(layout.rates, self.equations.rates, strict=True)
        rows = [_Row(formula(name_node(str(rate.name))), value) for rate, value in pairs if rate is not value]
        if not rows:
            return None
        return EquationBlock("Rates of the coordinates", "by the speeds", equations=_equations(rows), is_open=False)


def fair_share(sizes: Sequence[int], total: int) -> int:
    """The most that each may take so that all take no more than the total: what small ones leave, large ones share."""
    rest = total
    for k, size in enumerate(sorted(sizes)):
        share = rest // (len(sizes) - k)
        if size > share:
            return share
        rest -= size
    return max(sizes, default=0)


def _body_terms(entry: Expr, body: str) -> list[Term]:
    origin = Origin(f"Inertia of {body}", (body,))
    return [Term(formula(term(monomial, c)), origin) for monomial, c in few_terms(entry).items()]


def _opposite(one: SharedTerm) -> Term:
    """A term as it stands on the right side."""
    ((monomial, coefficient),) = one.polynomial.items()
    origin = Origin(one.share.sentence, one.share.bodies, one.share.joints)
    return Term(formula(term(monomial, -coefficient)), origin)


@dataclass(frozen=True)
class _Row:
    """left = right, under a title."""

    left: Formula
    right: Expr
    title: str = ""


def _equations(rows: Sequence[_Row]) -> tuple[Equation, ...]:
    """Short rows as sums of terms; intermediates of long ones first, by name."""
    short = {row: terms for row in rows if (terms := _terms(row.right)) is not None}
    long = [row for row in rows if row not in short]
    listed, nodes = definitions([row.right for row in long])
    rest = {row: [formula(node)] for row, node in zip(long, nodes, strict=True)}
    shown = [Equation(formula(line.left), (Term(formula(line.right)),)) for line in listed]
    shown += [Equation(row.left, tuple(map(Term, (short | rest)[row])), row.title) for row in rows]
    return tuple(shown[-MOST_LINES:])


def _terms(expression: Expr) -> list[Formula] | None:
    """The terms of a short expression in reading order; None for a long one."""
    try:
        nodes = [term(monomial, coefficient) for monomial, coefficient in few_terms(expression).items()]
    except TooManyTerms:
        return None
    return [formula(node) for node in sorted(nodes, key=term_key)]
