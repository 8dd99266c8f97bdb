"""What people write who know other languages, and how it is written here."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from torseur.description.language.syntax.grammar import grammar
from torseur.description.language.syntax.lexer import Token
from torseur.description.mechanism.units import is_usual_unit

STATEMENTS = {
    "body": "let NAME = body mass = 1 kg, ... end ;",
    "frame": "let NAME = [0, 0, 0] @ BODY ;",
    "force": "apply force [0, 0, 1 N] on BODY ;",
    "torque": "apply torque [0, 0, 1 N*m] on BODY ;",
    "spring": "apply spring stiffness = 1 N/m, rest = 1 m between BODY and BODY ;",
    "load": "apply force [0, 0, 1 N] on BODY ;",
    "damper": "apply spring stiffness = 0, damping = 1 N*s/m between BODY and BODY ;",
    "distance": "constrain distance BODY to BODY = 1 m ;",
    "rolling": "constrain rolling BODY radius 1 m on earth normal [0, 0, 1] ;",
    "parameter": "param NAME = 1 kg ;",
    "const": "param NAME = 1 kg ;",
    "initial": "init q = 30 deg ;",
    "joint": "join BODY and BODY as NAME with revolute(q) along [0, 0, 1] end ;",
    "constraint": "constrain distance BODY to BODY = 1 m ;",
}
"""Words that open a statement elsewhere, and how the statement begins here."""


def mistake_in(before: Sequence[Token], token: Token) -> str:
    """A hint on the mistake that a token shows, after up to two tokens of its statement; empty if none is known."""
    previous = before[-1] if before else None
    if previous is None:
        return _opening(token)
    if token.kind == "NUMBER" and previous.value == "," and token.start == previous.end and len(before) > 1:
        return f"Decimals have a point: {before[0].value}.{token.value}." if before[0].kind == "NUMBER" else ""
    return _unit(previous, token) or _misspelt(previous)


def _opening(token: Token) -> str:
    if token.value == "/":
        return "Comments are written between (* and *)."
    return f"Write: {STATEMENTS[token.value]}" if token.value in STATEMENTS and token.kind == "NAME" else ""


def _unit(previous: Token, token: Token) -> str:
    """Units that stand where the language does not look for them: `5 in,`, `0.2*sin(q) m`, `3 kg m^2`."""
    if "in" in (token.value, previous.value):
        return "An inch is written 'inch': the word 'in' introduces units."
    if token.value in ("^", "*", "/") and previous.kind == "NAME" and is_usual_unit(previous.value):
        return f"Units are joined by a sign: kg*{previous.value}, N/{previous.value}."
    if previous.kind == "UNIT" and token.kind == "NAME" and is_usual_unit(token.value):
        return f"Units are joined by a sign: {previous.value}*{token.value}."
    if token.kind == "NAME" and is_usual_unit(token.value) and (previous.kind == "NAME" or previous.value == ")"):
        return f"If '{token.value}' is a unit, it follows a number, as in 0.2 {token.value}*sin(q)."
    return ""


def _misspelt(previous: Token) -> str:
    """The word before is nearly a keyword: `abot [0, 0, 1]`."""
    if previous.kind != "NAME" or previous.value in grammar().keywords:
        return ""
    long_words = sorted(word for word in grammar().keywords if len(word) > 3)
    close = get_close_matches(previous.value, long_words, n=1, cutoff=0.75)
    return f"Did you mean '{close[0]}' instead of '{previous.value}'?" if close else ""
