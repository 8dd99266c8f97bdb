"""Where the terms of the scalar level come from, after terms of several bodies were added up and shortened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.equations import Equations
from torseur.equations.terms.origins import Share, Shares
from torseur.equations.terms.polynomial import Monomial, Polynomial, TooManyTerms
from torseur.graph import Expr
from torseur.report.levels.statement import Remark, united
from torseur.report.reading.read_graph import few_terms, term_sources


def own_row(share: Share, row: int) -> Expr:
    """A share's row as it was derived."""
    return share.rows[row]


@dataclass(frozen=True)
class TermOrigins:
    """Origins of the terms of the equations; `row_of` gives a share's row in the form that was written."""

    equations: Equations
    row_of: Callable[[Share, int], Expr] = own_row

    @cached_property
    def shares(self) -> tuple[Share, ...]:
        return Shares(self.equations).all

    def of(self, row: int, total: Expr) -> tuple[Remark, ...]:
        """The origin of each term of one row as `factored` writes it; nothing where the row is too long for that."""
        try:
            polynomial = few_terms(total)
            own = [(share, few_terms(self.row_of(share, row))) for share in self.shares]
        except TooManyTerms:
            return ()
        return tuple(united(map(_remark, self._owners(terms, polynomial, own))) for terms in term_sources(polynomial))

    def _owners(
        self, terms: Sequence[Monomial], total: Polynomial, own: Sequence[tuple[Share, Polynomial]]
    ) -> list[Share]:
        """The shares that have these terms; for terms that only the sum has, those that the sum rewrote."""
        found = [share for share, polynomial in own if any(term in polynomial for term in terms)]
        if all(any(term in polynomial for _, polynomial in own) for term in terms):
            return found
        rewritten = [share for share, polynomial in own if any(term not in total for term in polynomial)]
        return list(dict.fromkeys([*found, *rewritten]))


def _remark(share: Share) -> Remark:
    return Remark(share.sentence, "", share.bodies, share.joints)
