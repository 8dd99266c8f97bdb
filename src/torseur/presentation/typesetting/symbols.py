"""How a name is typeset: `q1`, `m_arm`, `theta_2`, `arm.mass`, `Ixx` as a letter with subscripts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_LOWER = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho _ sigma tau "
    "upsilon phi chi psi omega"
)
GREEK = {name: chr(0x3B1 + index) for index, name in enumerate(_LOWER.split()) if name != "_"}
GREEK |= {name.capitalize(): letter.upper() for name, letter in GREEK.items()}

# The letter that stands for a property in `owner.property`.
PROPERTIES = {
    "mass": "m",
    "length": "l",
    "radius": "r",
    "inertia": "I",
    "centre": "c",
    "center": "c",
    "stiffness": "k",
    "damping": "c",
    "width": "w",
    "height": "h",
    "force": "F",
    "torque": "T",
    "position": "p",
    "rotation": "omega",
    "velocity": "v",
    "angle": "theta",
    "rest": "l0",
}

_COMPONENT = re.compile(r"([A-Za-z])([xyz]{1,2})")
_NUMBERED = re.compile(r"([^\W\d_]+)(\d+)")


@dataclass(frozen=True)
class Symbol:
    """A letter or word, and what stands below it."""

    base: str
    subscripts: tuple[str, ...] = ()


@lru_cache(maxsize=1024)
def symbol(name: str) -> Symbol:
    """The letter and subscripts of a name: `theta_arm` is θ with `arm`, `arm.mass` is m with `arm`."""
    owner, dot, rest = name.partition(".")
    if dot and owner and rest:
        head, *parts = rest.split(".")
        letter = symbol(PROPERTIES.get(head, head))
        return Symbol(letter.base, (*letter.subscripts, owner.replace("_", "\u2009"), *parts))
    head, *tail = [part for part in name.split("_") if part] or [name]
    base, first = _split_head(head)
    return Symbol(base, (*first, *(GREEK.get(part, part) for part in tail)))


def _split_head(head: str) -> tuple[str, tuple[str, ...]]:
    if head in GREEK:
        return GREEK[head], ()
    if numbered := _NUMBERED.fullmatch(head):
        letters, digits = numbered.groups()
        base, inner = _split_head(letters)
        return base, (*inner, digits)
    if component := _COMPONENT.fullmatch(head):
        return component[1], (component[2],)
    return head, ()


def bold(text: str) -> str:
    """Letters as their bold mathematical code points; others unchanged."""
    return "".join(map(_bold_letter, text))


def _bold_letter(letter: str) -> str:
    for first, last, target in (("A", "Z", 0x1D400), ("a", "z", 0x1D41A), ("α", "ω", 0x1D6C2)):
        if first <= letter <= last:
            return chr(target + ord(letter) - ord(first))
    return letter
