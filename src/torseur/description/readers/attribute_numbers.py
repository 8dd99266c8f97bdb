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


def content_words(element: Element, tag: str) -> tuple[Element, list[str]] | None:
    """The child of that tag with the words between its tags, as SDF writes values; None when it is not written."""
    child = element.first(tag)
    return None if child is None else (child, child.content.split())


def content_text(element: Element, tag: str) -> str | None:
    """What stands between the tags of a child, without blanks at its ends; None when it is not written."""
    child = element.first(tag)
    return None if child is None else child.content.strip()


def content_number(element: Element, tag: str, default: float | None = None) -> float:
    """The number between the tags of a child; the default when it is not written, an error without one."""
    if default is None and element.first(tag) is None:
        raise element.fault(f"<{element.tag}> needs <{tag}>, a number.")
    return content_numbers(element, tag, 1, None if default is None else (default,))[0]


def content_numbers(
    element: Element, tag: str, count: int, default: Sequence[float] | None = None
) -> tuple[float, ...]:
    """As many numbers as asked for between the tags of a child; the default when it is not written."""
    found = content_words(element, tag)
    if found is None:
        if default is None:
            raise element.fault(f"<{element.tag}> needs <{tag}>, {count} numbers.")
        return tuple(default)
    child, words = found
    if len(words) != count:
        raise child.fault(f"<{tag}> has {len(words)} numbers; expected {count}.")
    return tuple(_value(word, child, "the text") for word in words)


def words_as_numbers(element: Element, words: Sequence[str]) -> tuple[float, ...]:
    """The numbers that words between the tags of an element write."""
    return tuple(_value(word, element, "the text") for word in words)


def content_switch(element: Element, tag: str, default: bool) -> bool:
    """Whether a child says true or 1; the default when it is not written."""
    text = content_text(element, tag)
    if not text:
        return default
    if text.lower() not in ("true", "false", "1", "0"):
        raise element.fault(f"<{tag}> is '{_short(text)}': expected true or false.")
    return text.lower() in ("true", "1")
