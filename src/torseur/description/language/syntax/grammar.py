"""The grammar of LSD as a parser; its tables are kept between runs: building them takes longer than reading a text."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from torseur.cache import begun_beside, cache_key, kept_path
from torseur.description.language.syntax.syntax_builder import Builder

if TYPE_CHECKING:
    from lark import Lark
    from lark import Token as LarkToken

KINDS = {"NAME": "a name", "NUMBER": "a number", "STRING": "a string", "UNIT": "a unit", "OPEN": "'['",
         "CLOSE": "']'", "ROUND_OPEN": "'('", "ROUND_CLOSE": "')'", "IN_JOINT": "'joint'",
         "SPEEDS": "'speeds'"}  # fmt: skip
_SIGNS = {"<": "COMPARE", "<=": "COMPARE", ">": "COMPARE", ">=": "COMPARE", "+": "SUM_SIGN", "-": "SUM_SIGN",
          "*": "PRODUCT_SIGN", "/": "PRODUCT_SIGN"}  # fmt: skip


class _Place(str):
    """A path that Lark opens and that reads the same for every file.

    Lark counts the path among the options that tables depend on; here they are written elsewhere and moved.
    """

    def __str__(self) -> str:
        return "kept"


@dataclass(frozen=True)
class Grammar:
    """The parser, and which terminal each keyword or sign is."""

    lark: Lark
    token: type[LarkToken]
    terminals: dict[str, str]
    spellings: dict[str, str]
    keywords: frozenset[str]


@lru_cache(maxsize=1)
def grammar() -> Grammar:
    """The grammar of LSD, ready to parse; built once."""
    from lark import Token as LarkToken
    from lark.lexer import PatternStr

    lark = _parser(files("torseur.description.language.syntax").joinpath("grammar.lark").read_text(encoding="utf-8"))
    named = {t.pattern.value: t.name for t in lark.terminals if isinstance(t.pattern, PatternStr)}
    spellings = {name: f"'{word}'" for word, name in named.items()} | KINDS
    keywords = frozenset(word for word in named if word.isalpha())
    return Grammar(lark, LarkToken, named | _SIGNS, spellings, keywords)


# Why tables are kept, and moved into place: docs/decisions/0057-start-of-a-command.md.
def _parser(text: str) -> Lark:
    """The parser of a grammar, from tables of an earlier run where there are any."""
    import lark

    place = kept_path(f"{cache_key('grammar', text, lark.__version__, sys.version)}.grammar")
    if place is None:
        return _build_parser(text)
    if place.exists():
        return _build_parser(text, cache=_Place(place))  # tables that cannot be read are built anew
    try:
        with begun_beside(place) as draft:
            return _build_parser(text, cache=_Place(draft))
    except OSError:  # a folder that cannot be written costs time, not the command
        return _build_parser(text)


def _build_parser(text: str, **more: Any) -> Lark:
    from lark import Lark

    return Lark(text, parser="lalr", start="statement", transformer=Builder(), maybe_placeholders=True, **more)
