"""Parts of equations that the user names: "m2*l2^2" is A wherever these factors stand together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from torseur.errors import TorseurError
from torseur.presentation.typesetting.formula_tree import Name, Node, Number, Product, Sum, is_bold, product
from torseur.presentation.typesetting.plain_text import plain_text

OPEN, CLOSE = "([", ")]"


@dataclass
class NamedParts:
    """Parts by the name given to them, as texts of the factors of a product or of the terms of a sum."""

    given: Mapping[str, str]
    taken: set[str]
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for name in self.given:
            if not name.isidentifier():
                raise TorseurError(f"fold: '{name}' is not a name; expected a letter, then letters, digits and '_'.")
            if name in self.taken:
                raise TorseurError(f"fold: '{name}' is a quantity of the equations; choose another name for the part.")

    def replace_parts(self, node: Node) -> tuple[Node, list[tuple[Node, str]]]:
        """The node with every named part in it replaced by its name, and which parts these were."""
        met: list[tuple[Node, str]] = []
        for name, text in self.given.items():
            node, part = _take_out(node, name, text.replace(" ", ""))
            if part is not None:
                met.append((part, name))
                self.used.add(name)
        return node, met

    def require_used(self) -> None:
        """Raises where a part that was named is in none of the equations."""
        if unmet := [name for name in self.given if name not in self.used]:
            text = self.given[unmet[0]]
            raise TorseurError(
                f"fold: '{text}' (to be {unmet[0]}) is a part of none of these equations; "
                "write it as they do, such as 'm2*l2^2' or 'm1 + m2'."
            )


def _take_out(node: Node, called: str, text: str) -> tuple[Node, Node | None]:
    """The node without the part of this text, which a name replaces; and the part, where it was there."""
    if plain_text(node).replace(" ", "") == text and not isinstance(node, Name | Number):
        return Name(called, bold=is_bold(node)), node
    if isinstance(node, Product):
        rest, part = _separate(node.factors, _split_at(text, "*"))
        if part:
            numbers = [one for one in rest if isinstance(one, Number)]
            others = [one for one in rest if not isinstance(one, Number)]
            name = Name(called, bold=any(map(is_bold, part)))
            return product((*numbers, name, *others)), product(part)
    if isinstance(node, Sum):
        rest, part = _separate(node.terms, _split_at(text, "+"))
        if part:
            return Sum((Name(called, bold=any(map(is_bold, part))), *rest)), Sum(part)
    return node, None


def _separate(parts: tuple[Node, ...], wanted: list[str]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """What remains and what was wanted; nothing wanted where one of them is missing or nothing would remain."""
    left = list(parts)
    taken: list[Node] = []
    for text in wanted:
        # Compared as text: the user types what the equations show, and not what the tree holds.
        match = next((one for one in left if plain_text(one).replace(" ", "") == text), None)
        if match is None:
            return parts, ()
        left.remove(match)
        taken.append(match)
    return (tuple(left), tuple(taken)) if left and len(taken) > 1 else (parts, ())


def _split_at(text: str, sign: str) -> list[str]:
    """A text at the signs outside brackets; a minus before a term stays with it."""
    pieces, depth = [""], 0
    for place, letter in enumerate(text):
        depth += (letter in OPEN) - (letter in CLOSE)
        separates = not depth and place > 0 and (letter == sign or (sign == "+" and letter == "-"))
        if separates:
            pieces.append("" if letter == sign else letter)
        else:
            pieces[-1] += letter
    return pieces
