"""The equations as cards: at once, and where that leaves them broken up, a second time with more patience."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from torseur.errors import TorseurError
from torseur.graph import symbols_of
from torseur.mechanism import Mechanism
from torseur.report.compose.blocks import Blocks
from torseur.report.compose.compose import Page
from torseur.report.compose.level_blocks import BY_NAMES
from torseur.report.content import EquationBlock, ReportContent
from torseur.report.equation_view import Index, block, plain
from torseur.report.reading.read_graph import HOPELESS
from torseur.report.sections import legend
from torseur.studio.answers.model import Model

HURRY = 700  # operations of a row beyond which it is not multiplied out at once
MOST_KEPT = 12

Cards: TypeAlias = dict[str, Any]
_kept: OrderedDict[tuple[Mechanism, str, str], Cards] = OrderedDict()
_hopeless: OrderedDict[tuple[str, ...], None] = OrderedDict()


def equation_cards(model: Model, page: Page, formalism: str, level: str) -> Iterator[Cards]:
    """The cards of a level as markup, or the reason why there are none.

    Cards of the same equations are kept: a text with other numbers or words has them at once.
    """
    key = (structure(model.mechanism), formalism, level)
    if key in _kept:
        _kept.move_to_end(key)
        yield _kept[key]
        return
    try:
        equations = model.equations(formalism)
        cards = Blocks(equations, None, HURRY).at_level(level)
        found = _markup(page, cards, level)
        yield found
        if _may_be_shorter(model, cards):
            patient = Blocks(equations, None, HOPELESS).at_level(level)
            if _is_broken_up(patient):
                _remember(_hopeless, _coordinates(model), None)
            found = _markup(page, patient, level)
            yield found
    except TorseurError as problem:
        found = {"html": "", "reason": str(problem), "copies": {}}
        yield found
    _remember(_kept, key, found)


def structure(mechanism: Mechanism) -> Mechanism:
    """A mechanism without the numbers of its parameters and of its start, which no equation shows."""
    bare = tuple(
        replace(p, value=None) if p.value is not None and not symbols_of([p.value]) else p for p in mechanism.parameters
    )
    return replace(mechanism, parameters=bare, initial=())


def _may_be_shorter(model: Model, cards: Sequence[EquationBlock]) -> bool:
    """Whether more patience could write the equations as sums of terms; not where it could not before."""
    return _is_broken_up(cards) and _coordinates(model) not in _hopeless


def _is_broken_up(cards: Sequence[EquationBlock]) -> bool:
    return any(card.subtitle == BY_NAMES for card in cards)


def _coordinates(model: Model) -> tuple[str, ...]:
    return tuple(model.tree.layout.coordinate_names)


def _remember(kept: OrderedDict[Any, Any], key: object, value: object) -> None:
    kept[key] = value
    while len(kept) > MOST_KEPT:
        kept.popitem(last=False)


def _markup(page: Page, cards: Sequence[EquationBlock], level: str) -> Cards:
    content = ReportContent(page.title(), bodies=page.named_bodies(), joints=page.joints(), equations=tuple(cards))
    index = Index(
        {body.name: number for number, body in enumerate(content.bodies)},
        {joint.name: number for number, joint in enumerate(content.joints)},
    )
    shown = legend(content) + "".join(block(card, number, index) for number, card in enumerate(cards))
    return {"html": shown, "reason": "" if cards else _nothing(level), "copies": _copies(cards)}


def _nothing(level: str) -> str:
    return f"The equations are too long to be read at the {level} level; choose another one."


def _copies(cards: Sequence[EquationBlock]) -> dict[str, str]:
    return {
        f"equations-{number}": card.copy_text or "\n".join(plain(line) for line in card.equations + card.folded)
        for number, card in enumerate(cards)
    }
