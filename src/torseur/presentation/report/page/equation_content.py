"""Equations as a report shows them: terms with their origins, matrices, and cards that fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from torseur.errors import counted
from torseur.presentation.typesetting.formula import Formula

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Origin:
    """Where a term comes from: the bodies and joints it lights up, and a sentence saying why."""

    text: str
    bodies: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Term:
    """One additive term of an equation; `values` are its samples at the motion's times, where known."""

    formula: Formula
    origin: Origin | None = None
    values: Array | None = None
    opens: tuple[int, ...] = ()  # places, among the block's folded equations, of what defines it


@dataclass(frozen=True, eq=False)
class Equation:
    """left = sum of terms; `left_terms` take the left apart where its terms have origins too."""

    left: Formula
    terms: tuple[Term, ...]
    title: str = ""
    unit: str = ""
    left_terms: tuple[Term, ...] = ()

    @property
    def all_terms(self) -> tuple[Term, ...]:
        """In the order of the page."""
        return self.left_terms + self.terms


@dataclass(frozen=True, eq=False)
class Matrix:
    """Entries by row, and the symbol that stands for the whole."""

    symbol: Formula
    rows: tuple[tuple[Formula, ...], ...]


@dataclass(frozen=True, eq=False)
class EquationBlock:
    """A foldable card: an optional line of matrices, then equations, some folded behind their left side.

    `line` reads left to right: matrices and operators such as "=". Where what is folded takes long to write, `names`
    are its left sides and `write` writes it: a page that is in a hurry shows the rest first.
    """

    title: str
    subtitle: str = ""
    introduction: str = ""
    line: tuple[Matrix | str, ...] = ()
    equations: tuple[Equation, ...] = ()
    folded: tuple[Equation, ...] = ()
    copy_text: str = ""
    is_open: bool = True
    level: str = ""  # "intrinsic", "recursive", "matrix" or "scalar": the page shows one at a time, or all
    folded_title: str = "with the entries"
    names: tuple[Formula, ...] = ()
    write: Callable[[], tuple[Equation, ...]] | None = None
    command: str = ""
    """What prints all of it, where a page cannot hold it."""

    @property
    def folded_names(self) -> tuple[Formula, ...]:
        """The left sides of what is folded, written or not."""
        return self.names or tuple(one.left for one in self.folded)

    @property
    def markup(self) -> int:
        """Characters of a page that its equations take."""
        chips = sum(CHIP_FRAME + len(one.left.mathml) for one in self.folded)
        return sum(map(markup_of, (*self.equations, *self.folded))) + chips

    def within(self, most: int) -> EquationBlock:
        """The card with as much as a page can hold; the longest lines are left out, which its note says."""
        sizes = [markup_of(one) for one in (*self.equations, *self.folded)]
        longest = iter(sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True))
        left_out: set[int] = set()
        # A line that is left out keeps its name, and what is folded its chip.
        taken = self.markup
        while taken > most and len(left_out) < len(sizes) and sizes[one := next(longest)] > CUT_LINE:
            left_out.add(one)
            taken -= sizes[one] - CUT_LINE
        if not left_out:
            return self
        lines = counted(len(left_out), "line")
        note = f"{lines} too long for a page {'is' if len(left_out) == 1 else 'are'} left out"
        note += f"; `{self.command}` prints all." if self.command else "."
        first = len(self.equations)
        return replace(
            self,
            introduction=f"{self.introduction} {note}".strip(),
            equations=tuple(_cut(one) if k in left_out else one for k, one in enumerate(self.equations)),
            folded=tuple(_cut(one) if first + k in left_out else one for k, one in enumerate(self.folded)),
        )

    def complete(self) -> EquationBlock:
        """The card with everything written."""
        return self if self.write is None else replace(self, folded=self.write(), names=(), write=None)


SHORT_LEFT = 200  # characters: a name, not an expression
# Characters of a page around a term, an equation, a chip that unfolds one, and of a line that is left out.
TERM_FRAME, EQUATION_FRAME, CHIP_FRAME, CUT_LINE = 200, 150, 170, 450


def markup_of(one: Equation) -> int:
    """Characters of a page that an equation takes: to be seen, copied and read aloud."""
    terms = one.all_terms
    formulas = (one.left, *(term.formula for term in terms))
    # Words stand at the term and at its equation, and reasons in what is seen and what is spoken.
    written = sum(len(part.mathml) + len(part.text) + 2 * len(part.words) for part in formulas)
    return (
        EQUATION_FRAME + written + sum(TERM_FRAME + 2 * len(term.origin.text if term.origin else "") for term in terms)
    )


def _cut(one: Equation) -> Equation:
    """An equation with its length in place of its right side, so that titles and names keep their places."""
    text = f"({max(1, round(markup_of(one) / 1000))} kB)"
    short = one.left if len(one.left.text) <= SHORT_LEFT else Formula("<mi>…</mi>", "…", "a long expression")
    return replace(one, left=short, terms=(Term(Formula(f"<mtext>{text}</mtext>", text, text)),), left_terms=())
