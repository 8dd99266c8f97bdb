"""The grammar of LSD as a parser; its tables are kept between runs: building them takes longer than reading a text."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from torseur.cache import cache_key, load, store
from torseur.description.language.syntax.syntax_builder import Builder

if TYPE_CHECKING:
    from lark import Lark
    from lark import Token as LarkToken

KINDS = {"NAME": "a name", "NUMBER": "a number", "STRING": "a string", "UNIT": "a unit", "OPEN": "'['",
         "CLOSE": "']'", "ROUND_OPEN": "'('", "ROUND_CLOSE": "')'", "IN_JOINT": "'joint'",
         "SPEEDS": "'speeds'", "STOPS": "'stops'"}  # fmt: skip
_SIGNS = {"<": "COMPARE", "<=": "COMPARE", ">": "COMPARE", ">=": "COMPARE", "+": "SUM_SIGN", "-": "SUM_SIGN",
          "*": "PRODUCT_SIGN", "/": "PRODUCT_SIGN"}  # fmt: skip


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


# Why tables are kept: docs/decisions/0057-start-of-a-command.md.
def _parser(text: str) -> Lark:
    """The parser of a grammar, from tables of an earlier run where there are any."""
    import lark

    key = cache_key("grammar", text, lark.__version__, sys.version)
    kept = load(key)
    if kept is not None:
        return _from_tables(kept)
    built = lark.Lark(text, parser="lalr", start="statement", transformer=Builder(), maybe_placeholders=True)
    store(key, _tables(built))
    return built


# Lark itself would keep the tables by pickle, which runs what it reads. They are lists and dictionaries of numbers and
# texts; JSON has all of these but numbers as keys.
def _tables(parser: Lark) -> bytes:
    """The tables of a parser as JSON, without the object that builds statements."""
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    data, memo = parser.memo_serialize([TerminalDef, Rule])
    options = {name: value for name, value in data["options"].items() if name != "transformer"}
    return json.dumps({"data": data | {"options": options}, "memo": memo}).encode()


def _from_tables(content: bytes) -> Lark:
    from lark import Lark

    tables = json.loads(content, object_hook=_numbers_as_keys)
    tables["data"]["options"]["transformer"] = Builder()
    return Lark.load(tables)


def _numbers_as_keys(items: dict[str, Any]) -> dict[str | int, Any]:
    return {int(key) if key.isdigit() else key: value for key, value in items.items()}
