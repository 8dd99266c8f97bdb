"""Equations as a report shows them: terms with their origins, matrices, and cards that fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

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

    @property
    def folded_names(self) -> tuple[Formula, ...]:
        """The left sides of what is folded, written or not."""
        return self.names or tuple(one.left for one in self.folded)

    def complete(self) -> EquationBlock:
        """The card with everything written."""
        return self if self.write is None else replace(self, folded=self.write(), names=(), write=None)
