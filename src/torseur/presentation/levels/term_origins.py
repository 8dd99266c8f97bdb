"""Where terms of equations and parts of them come from, after terms of several bodies were added up and shortened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.algebra.graph import Expr, symbols_of
from torseur.derivation.equations import Equations
from torseur.derivation.equations.terms.origins import Share, Shares, acting
from torseur.derivation.equations.terms.polynomial import Monomial, Polynomial, TooManyTerms
from torseur.derivation.equations.terms.short_sum import few_terms
from torseur.derivation.tree.body_constants import body_inertia
from torseur.derivation.tree.flatten import flatten
from torseur.presentation.levels.statement import Remark, unite
from torseur.presentation.typesetting.formula_tree import Node, names_in
from torseur.presentation.typesetting.read_graph import read_name, term_sources

MOST_SENTENCES = 3


@dataclass(frozen=True)
class PartOrigins:
    """Origins of parts of equations: the terms a part stands in, or the owners of the quantities it is made of."""

    equations: Equations

    def of(self, node: Node, terms: Sequence[Remark]) -> Remark:
        """Bodies and joints of the terms a part stands in; where they tell nothing, those of its quantities."""
        origin = unite(terms)
        if origin == Remark():
            return self._by_quantities(node)
        sentences = dict.fromkeys(sentence for sentence in origin.meaning.split("; ") if sentence)
        return replace(origin, meaning=_enumeration("in", list(sentences)))

    def _by_quantities(self, node: Node) -> Remark:
        names = names_in(node)
        bodies = [body for body, own in self._bodies.items() if own & names]
        joints = [joint for joint, own in self._joints.items() if own & names]
        loads = [load for load, (own, _, _) in self._loads.items() if own & names]
        for load in loads:
            bodies += [body for body in self._loads[load][1] if body not in bodies]
            joints += [joint for joint in self._loads[load][2] if joint not in joints]
        return Remark(_enumeration("of", [*bodies, *joints, *loads]), "", tuple(bodies), tuple(joints))

    @cached_property
    def _bodies(self) -> dict[str, set[str]]:
        return {body.name: _symbols([body_inertia(body)]) for body in self.equations.mechanism.bodies}

    @cached_property
    def _joints(self) -> dict[str, set[str]]:
        return {
            link.joint.name: {
                read_name(str(x.name)).text
                for x in (*link.symbols.coordinates, *link.symbols.rates, *link.symbols.speeds)
            }
            for link in self.equations.tree.links
        }

    @cached_property
    def _loads(self) -> dict[str, tuple[set[str], tuple[str, ...], tuple[str, ...]]]:
        """Every load by the parameters that only it has."""
        # A spring depends on the coordinate of its joint as everything else does; only its own parameters tell it
        # apart.
        states = set().union(*self._joints.values()) if self._joints else set()
        return {load.name: (_symbols([load]) - states, *acting(load)[:2]) for load in self.equations.mechanism.loads}


def _enumeration(word: str, things: Sequence[str]) -> str:
    if not things:
        return ""
    rest = len(things) - MOST_SENTENCES
    return f"{word} {'; '.join(things[:MOST_SENTENCES])}" + (f" and {rest} more" if rest > 0 else "")


def _symbols(things: Iterable[object]) -> set[str]:
    leaves = [leaf for leaf in flatten(list(things)) if isinstance(leaf, Expr)]
    return {read_name(str(x.name)).text for x in symbols_of(leaves)}


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
        """The origin of each term of one row as `factored_form` writes it; nothing where the row is too long."""
        try:
            polynomial = few_terms(total)
            return self.of_terms(row, polynomial, term_sources(polynomial))
        except TooManyTerms:
            return ()

    def of_terms(self, row: int, total: Polynomial, listed: Iterable[Sequence[Monomial]]) -> tuple[Remark, ...]:
        """The origin of each list of terms of a row."""
        own = [(share, few_terms(self.row_of(share, row))) for share in self.shares]
        return tuple(unite(map(_remark, self._owners(terms, total, own))) for terms in listed)

    def _owners(
        self, terms: Sequence[Monomial], total: Polynomial, own: Sequence[tuple[Share, Polynomial]]
    ) -> list[Share]:
        """The shares that have these terms; for terms that only the sum has, those that the sum rewrote."""
        owners = [share for share, polynomial in own if any(term in polynomial for term in terms)]
        if all(any(term in polynomial for _, polynomial in own) for term in terms):
            return owners
        # cos² of one body and sin² of another add up to a term that neither has: it belongs to both.
        rewritten = [share for share, polynomial in own if any(term not in total for term in polynomial)]
        return list(dict.fromkeys([*owners, *rewritten]))


def _remark(share: Share) -> Remark:
    return Remark(share.sentence, "", share.bodies, share.joints)
