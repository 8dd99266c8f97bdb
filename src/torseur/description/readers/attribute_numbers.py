"""Numbers written in attributes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from torseur.description.readers.xml_document import Element

LARGEST = 1e30
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_LONGEST = 400


def number(element: Element, name: str, default: float | None = None) -> float:
    """The number in an attribute; the default when it is not written, an error without one."""
    text = element.text(name)
    if text is None:
        if default is None:
            raise element.fault(f'<{element.tag}> needs {name}="...", a number.')
        return default
    words = text.split()
    if len(words) != 1:
        raise element.fault(f'{name}="{_short(text)}" of <{element.tag}> is not one number.')
    return _value(words[0], element, name)


def numbers(element: Element, name: str, count: int, default: Sequence[float] | None = None) -> tuple[float, ...]:
    """As many numbers as asked for in an attribute; the default when it is not written."""
    values = number_list(element, name)
    if values is None:
        if default is None:
            raise element.fault(f'<{element.tag}> needs {name}="...", {count} numbers.')
        return tuple(default)
    if len(values) != count:
        raise element.fault(f"{name} of <{element.tag}> has {len(values)} numbers; expected {count}.")
    return values


def number_list(element: Element, name: str) -> tuple[float, ...] | None:
    """All numbers in an attribute, or None when it is not written."""
    text = element.text(name)
    return None if text is None else tuple(_value(word, element, name) for word in text.split())


def limit_value(element: Element, name: str) -> float | None:
    """A limit: any number, infinities included, or None when it is not written."""
    text = element.text(name)
    if text is None:
        return None
    word = text.strip()
    if word.lower().lstrip("+-") in ("inf", "infinity"):
        return -math.inf if word.startswith("-") else math.inf
    if not _is_number(word):
        raise element.fault(f'{name}="{_short(text)}" of <{element.tag}> is not a number.')
    return float(word)


def choice(element: Element, name: str, known: Sequence[str], default: str) -> str:
    """One of the known words in an attribute."""
    text = element.text(name)
    if text is None:
        return default
    if text.strip() not in known:
        raise element.fault(f'{name}="{_short(text)}" of <{element.tag}>: expected {", ".join(known)}.')
    return text.strip()


def _value(word: str, element: Element, name: str) -> float:
    if "$" in word:
        raise element.fault(
            f"{name} of <{element.tag}> holds '{_short(word)}': this is xacro; expand it with xacro first."
        )
    if not _is_number(word):
        raise element.fault(f"'{_short(word)}' in {name} of <{element.tag}> is not a number.")
    value = float(word)
    if abs(value) > LARGEST:
        raise element.fault(f"{word} in {name} of <{element.tag}> is too large: the limit is {LARGEST:g}.")
    return value


def _is_number(word: str) -> bool:
    return len(word) <= _LONGEST and _NUMBER.fullmatch(word) is not None


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
