"""Where a part of an equation comes from: the terms it stands in, and the owners of the quantities it is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.equations import Equations
from torseur.equations.terms.origins import acting
from torseur.graph import Expr, symbols_of
from torseur.report.expression import Node, names_in
from torseur.report.levels.statement import Remark, united
from torseur.report.reading.read_graph import named
from torseur.tree.constants import body_inertia
from torseur.tree.flatten import flatten

MOST_SENTENCES = 3


@dataclass(frozen=True)
class PartOrigins:
    """Owners of the quantities of one mechanism."""

    equations: Equations

    def of(self, node: Node, terms: Sequence[Remark]) -> Remark:
        """Bodies and joints of the terms a part stands in; where they tell nothing, those of its quantities."""
        origin = united(terms)
        if origin == Remark():
            return self._by_quantities(node)
        sentences = dict.fromkeys(sentence for sentence in origin.meaning.split("; ") if sentence)
        return replace(origin, meaning=_listed("in", list(sentences)))

    def _by_quantities(self, node: Node) -> Remark:
        names = names_in(node)
        bodies = [body for body, own in self._bodies.items() if own & names]
        joints = [joint for joint, own in self._joints.items() if own & names]
        loads = [load for load, (own, _, _) in self._loads.items() if own & names]
        for load in loads:
            bodies += [body for body in self._loads[load][1] if body not in bodies]
            joints += [joint for joint in self._loads[load][2] if joint not in joints]
        return Remark(_listed("of", [*bodies, *joints, *loads]), "", tuple(bodies), tuple(joints))

    @cached_property
    def _bodies(self) -> dict[str, set[str]]:
        return {body.name: _symbols([body_inertia(body)]) for body in self.equations.mechanism.bodies}

    @cached_property
    def _joints(self) -> dict[str, set[str]]:
        return {
            link.joint.name: {
                named(str(x.name)).text for x in (*link.symbols.coordinates, *link.symbols.rates, *link.symbols.speeds)
            }
            for link in self.equations.tree.links
        }

    @cached_property
    def _loads(self) -> dict[str, tuple[set[str], tuple[str, ...], tuple[str, ...]]]:
        """Every load by the parameters that only it has."""
        states = set().union(*self._joints.values()) if self._joints else set()
        return {load.name: (_symbols([load]) - states, *acting(load)[:2]) for load in self.equations.mechanism.loads}


def _listed(word: str, things: Sequence[str]) -> str:
    if not things:
        return ""
    rest = len(things) - MOST_SENTENCES
    return f"{word} {'; '.join(things[:MOST_SENTENCES])}" + (f" and {rest} more" if rest > 0 else "")


def _symbols(things: Iterable[object]) -> set[str]:
    leaves = [leaf for leaf in flatten(list(things)) if isinstance(leaf, Expr)]
    return {named(str(x.name)).text for x in symbols_of(leaves)}
