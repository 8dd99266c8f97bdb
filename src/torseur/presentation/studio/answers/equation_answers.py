"""The equations as cards, then their definitions; where they are broken up, a second time with more patience."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from torseur.algebra.graph import symbols_of
from torseur.derivation.equations.terms.short_sum import HOPELESS
from torseur.description.mechanism import Mechanism
from torseur.errors import TorseurError
from torseur.presentation.report.compose.compose_report import Page
from torseur.presentation.report.compose.derivation_cards import SensitivityStudy
from torseur.presentation.report.compose.equation_cards import Blocks
from torseur.presentation.report.compose.level_cards import BY_NAMES
from torseur.presentation.report.page.equation_content import EquationBlock
from torseur.presentation.report.page.equation_view import Index, block, definitions, equation_text
from torseur.presentation.report.page.report_content import ReportContent
from torseur.presentation.report.page.sections import legend
from torseur.presentation.studio.answers.text_model import Model

# Why equations are written twice: docs/decisions/0055-equations-twice.md.
HURRY = 700  # operations of a row beyond which it is not multiplied out at once,
FEW = 3  # unless there are so few speeds
MOST_KEPT = 12

Parts: TypeAlias = list[tuple[str, dict[str, Any]]]  # "equations" or "definitions", and what they hold
_kept: OrderedDict[tuple[Mechanism, str, str, str], Parts] = OrderedDict()
_hopeless: OrderedDict[tuple[str, ...], None] = OrderedDict()


def equation_cards(
    model: Model, page: Page, formalism: str, level: str, criterion: str = ""
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The cards of a level as markup, or the reason why there are none; then the definitions that unfold in them.

    Cards of the same equations are kept: a text with other numbers or words has them at once.
    """
    about = criterion or next(iter(_coordinates(model)), "")
    key = (structure(model.mechanism), formalism, level, about)
    if key in _kept:
        _kept.move_to_end(key)
        yield from _kept[key]
        return
    parts: Parts = []
    try:
        equations = model.equations(formalism)
        few = len(equations.layout.speeds) <= FEW
        hopeless = HOPELESS if few else HURRY
        blocks = Blocks(equations.as_read, None, hopeless, equations, SensitivityStudy(about))
        cards = blocks.at_level(level)
        for part in _parts(page, cards, level):
            parts.append(part)
            yield part
        if not few and _may_be_shorter(model, cards):
            patient = Blocks(equations.as_read, None, HOPELESS, equations).at_level(level)
            if _is_broken_up(patient):
                _remember(_hopeless, _coordinates(model), None)
            else:
                cards = patient
                parts = list(_parts(page, cards, level))
                yield from parts
        # What stands behind the equations comes when they are on the page.
        if further := blocks.further():
            parts = list(_parts(page, (*cards, *further), level))
            yield from parts
    except TorseurError as problem:
        parts = [("equations", {"html": "", "reason": str(problem), "copies": {}})]
        yield parts[0]
    _remember(_kept, key, parts)


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


def _parts(page: Page, cards: Sequence[EquationBlock], level: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The cards with chips for their definitions, then these; the page puts one in when it is unfolded."""
    content = ReportContent(page.title(), bodies=page.named_bodies(), joints=page.joints(), equations=tuple(cards))
    index = Index(
        {body.name: number for number, body in enumerate(content.bodies)},
        {joint.name: number for number, joint in enumerate(content.joints)},
    )
    shown = legend(content) + "".join(block(card, number, index, False) for number, card in enumerate(cards))
    yield "equations", {"html": shown, "reason": "" if cards else _nothing(level), "copies": _copies(cards)}
    whole = [card.complete() for card in cards]
    rows = {name: row for number, card in enumerate(whole) for name, row in definitions(card, number, index).items()}
    if rows:
        yield "definitions", {"rows": rows, "copies": _copies(whole)}


def _nothing(level: str) -> str:
    return f"The equations are too long to be read at the {level} level; choose another one."


def _copies(cards: Sequence[EquationBlock]) -> dict[str, str]:
    return {
        f"equations-{number}": card.copy_text or "\n".join(equation_text(line) for line in card.equations + card.folded)
        for number, card in enumerate(cards)
    }
