"""Colours of descriptions. The words are those of the grammar."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text
from sphinx.application import Sphinx

GRAMMAR = Path(__file__).parents[2] / "src/torseur/description/language/syntax/grammar.lark"
KEYWORDS = tuple(sorted(set(re.findall(r'"([a-z]{2,})"', GRAMMAR.read_text(encoding="utf-8")))))


class LsdLexer(RegexLexer):
    name = "LSD"
    aliases = ("lsd",)
    tokens: ClassVar = {
        "root": [
            (r"\s+", Text),
            (r"\(\*", Comment, "comment"),
            (r'"[^"]*"', String),
            (r"`[^`]*`", Name),
            (r"(\d+\.?\d*(?:[eE][+-]?\d+)?)", Number),
            (words(KEYWORDS, prefix=r"(?<![\w.])", suffix=r"\b(?!\.)"), Keyword),
            (r"\?\w+", Name.Variable),
            (r"\w+", Name),
            (r"\+\+|\|\||<=|>=|[-+*/^=<>@'°µ]", Operator),
            (r"[\[\](),;.|]", Punctuation),
            (r".", Text),
        ],
        "comment": [(r"\(\*", Comment, "#push"), (r"\*\)", Comment, "#pop"), (r"(?s).", Comment)],
    }


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_lexer("lsd", LsdLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
