"""HTML and SVG from data: attribute values and texts are always escaped, only markup made here is not."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

VOID = frozenset(["meta", "br", "hr", "img", "input", "link"])
# Characters that no XML or HTML document may contain, lone surrogates included.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is markup already: made by `element` or by this package's own templates."""


def escape(text: object) -> Markup:
    """Text that can stand anywhere in a page, in quotes too; what no document may hold becomes U+FFFD."""
    return Markup(html.escape(_FORBIDDEN.sub("\ufffd", str(text)), quote=True))


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """<tag attributes>children</tag>: plain strings are escaped, Markup is not.

    A trailing underscore in an attribute's name is dropped, inner ones become hyphens (`class_`, `data_why`);
    None and False leave an attribute out, True leaves it without a value.
    """
    shown = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in VOID:
        return Markup(f"<{tag}{shown}>")
    return Markup(f"<{tag}{shown}>{join(children)}</{tag}>")


def join(children: Sequence[str]) -> Markup:
    """Children one after the other, escaped unless they are Markup."""
    return Markup("".join(c if isinstance(c, Markup) else escape(c) for c in children))


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    spelled = name.rstrip("_").replace("_", "-")
    return f" {spelled}" if value is True else f' {spelled}="{escape(_number(value))}"'


def _number(value: object) -> object:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
