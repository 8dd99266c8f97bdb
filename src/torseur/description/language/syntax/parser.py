"""From text to statements: the grammar is driven token by token, and a bad statement does not hide the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torseur.description.language.description_errors import Report, Source, one_of
from torseur.description.language.syntax.grammar import KINDS, grammar
from torseur.description.language.syntax.lexer import Token, tokens
from torseur.description.language.syntax.part_nodes import PartHead, PartIs
from torseur.description.language.syntax.syntax_builder import TooDeep
from torseur.description.language.syntax.syntax_nodes import Statement
from torseur.description.language.syntax.usual_mistakes import mistake_in
from torseur.errors import nearest

LARGEST_TEXT = 1_000_000
MOST_TOKENS = 200_000
_OPENINGS = (
    "mechanism",
    "param",
    "gravity",
    "init",
    "actuate",
    "let",
    "law",
    "table",
    "measure",
    "join",
    "apply",
    "constrain",
    "contact",
    "draw",
    "state",
    "equation",
    "unknown",
    "every",
    "when",
    "part",
    "use",
)
_OPERANDS = {"NAME", "NUMBER", "FRESH", "OPEN", "ROUND_OPEN"}
_OPERATORS = {"SUM_SIGN", "PRODUCT_SIGN", "COMPARE", "CIRCUMFLEX", "@", "++", "||", "DOT", "PRIME", "UNIT"}


@dataclass(frozen=True)
class Parsed:
    """The statements of a text, and the names in statements that could not be read."""

    statements: tuple[Statement, ...]
    doubtful: frozenset[str]


def parse_statements(source: Source, report: Report) -> Parsed:
    """Every statement that can be read; each fault of the others is reported once."""
    if len(source.text) > LARGEST_TEXT:
        report.add(0, 1, f"the text has {len(source.text)} characters; the limit is {LARGEST_TEXT}.")
        return Parsed((), frozenset())
    stream = tokens(source, report, grammar().keywords)
    if len(stream) > MOST_TOKENS:
        report.add(stream[MOST_TOKENS].start, stream[MOST_TOKENS].end, f"the text has more than {MOST_TOKENS} words.")
        return Parsed((), frozenset())
    statements: list[Statement] = []
    doubtful: set[str] = set()
    position = 0
    while position < len(stream) and not report.is_full:
        read = _part if _is_word(stream[position], "part") else _one_statement
        result, stop = read(stream, position, report)
        statements += result
        if not result:
            doubtful |= {token.value for token in stream[position:stop] if token.kind == "NAME"}
        position = stop
    return Parsed(tuple(statements), frozenset(doubtful))


def _part(stream: list[Token], first: int, report: Report) -> tuple[tuple[Statement, ...], int]:
    """A part from its head to its `end ;`, and where the next statement starts.

    The statements inside are read one by one, as those outside are: a bad one does not hide the others.
    """
    position = _end_of_head(stream, first)
    closing = Token("SIGN", ";", stream[position - 1].end, stream[position - 1].end)
    head, _ = _one_statement([*stream[first:position], closing], 0, report)
    inside: list[Statement] = []
    doubtful: set[str] = set()
    while position < len(stream) and not report.is_full:
        if _is_word(stream[position], "end"):
            if position + 1 < len(stream) and stream[position + 1].value == ";":
                position += 1
            else:
                report.add(stream[position].start, stream[position].end, "expected ';' after the 'end' of a part.")
            if not head or not isinstance(head[0], PartHead):
                return (), position + 1
            whole = (stream[first].start, stream[position].end)
            return (PartIs(*whole, head[0], tuple(inside), frozenset(doubtful)),), position + 1
        if _is_word(stream[position], "part"):
            where = stream[position]
            report.add(where.start, where.end, "a part is defined inside another.", "Write them one after the other.")
            _, position = _part(stream, position, report)
            continue
        result, stop = _one_statement(stream, position, report)
        inside += result
        if not result:
            doubtful |= {token.value for token in stream[position:stop] if token.kind == "NAME"}
        position = stop
    if not report.has(stream[first].start, len(report.source.text)):
        report.add(stream[first].start, stream[first].end, "this part is never closed.", "It ends with 'end ;'.")
    return (), len(stream)


def _end_of_head(stream: list[Token], first: int) -> int:
    """Where the statements of a part begin: at the first word outside brackets that opens one, or at its `end`."""
    depth = 0
    for index in range(first + 1, len(stream)):
        token = stream[index]
        if token.kind == "SIGN":
            depth += (token.value in ("(", "[")) - (token.value in (")", "]"))
        # Opening words may be names of a user, too: only where what follows fits a statement does one end the head.
        opens = token.value in _OPENINGS and _opens(stream, index)
        if (
            index > first + 1
            and depth <= 0
            and token.kind == "NAME"
            and not token.quoted
            and (opens or token.value == "end")
        ):
            return index
        if token.value == ";" and token.kind == "SIGN":
            return index
    return len(stream)


def _is_word(token: Token, word: str) -> bool:
    return token.kind == "NAME" and not token.quoted and token.value == word


def _one_statement(stream: list[Token], first: int, report: Report) -> tuple[tuple[Statement, ...], int]:
    """The statement (several for a list) starting at a token, and where the next one starts."""
    from lark.exceptions import UnexpectedToken

    # Token by token rather than as a whole: a bad statement ends at its semicolon, and the next one is read as usual.
    # LALR(1), driven from outside: the parser knows at every token what could follow, which is what an error has to
    # say.
    parser: Any = grammar().lark.parse_interactive()
    for index in range(first, len(stream)):
        token = stream[index]
        try:
            parser.feed_token(_terminal(token, parser))
            if token.kind == "SIGN" and token.value == ";":
                whole = {"start": stream[first].start, "end": token.end}
                return tuple(replace(statement, **whole) for statement in parser.feed_eof()), index + 1
        except UnexpectedToken:
            # After a character or string that was reported, what follows is its consequence.
            if not report.has(stream[first].start, token.end):
                _report_unexpected(stream[max(first, index - 2) : index], token, parser.accepts(), report)
            return (), _resume(stream, index, first)
        except TooDeep as problem:
            report.add(problem.start, problem.end, "this formula is nested too deeply.")
            return (), _resume(stream, index, first)
    end = stream[-1].end
    if not report.has(stream[first].start, len(report.source.text)):
        report.add(end, end, f"expected {_acceptable_words(parser.accepts())} at the end of the text.")
    return (), len(stream)


def _terminal(token: Token, parser: Any) -> Any:
    """The token as the grammar's terminal: a keyword only where one fits."""
    language, kind = grammar(), token.kind
    if kind == "SIGN" or (kind == "NAME" and not token.quoted):
        keyword = language.terminals.get(token.value)
        # `mass`, `end` or `on` may be names of a user; only where the grammar can take the word is it one.
        choices = parser.choices()
        fits = keyword is not None and (kind == "SIGN" or keyword in choices)
        # The choices are those of all formulas in such a place; where a name may follow too, exact ones decide.
        if keyword and fits and (kind == "SIGN" or "NAME" not in choices or keyword in parser.accepts()):
            kind = keyword
    return language.token(kind, token.value, start_pos=token.start, end_pos=token.end)


def _resume(stream: list[Token], bad: int, first: int) -> int:
    """Where to go on after a bad token: past the next semicolon, or at a word that opens a statement."""
    for index in range(max(bad, first + 1), len(stream)):
        token = stream[index]
        if token.kind == "SIGN" and token.value == ";":
            return index + 1
        if token.kind == "NAME" and token.value in _OPENINGS and _opens(stream, index):
            return index
    return len(stream)


def _opens(stream: list[Token], index: int) -> bool:
    """Whether an opening word is followed by what follows it at the start of a statement."""
    if index + 1 >= len(stream):
        return False
    following = stream[index + 1]
    if stream[index].value == "gravity":
        return following.value == "="
    return following.kind in ("NAME", "NUMBER", "FRESH") or following.value in ("[", "(")


def _report_unexpected(before: Sequence[Token], token: Token, accepted: set[str], report: Report) -> None:
    """Says what stood there and what could have stood there; `before` are up to two tokens of the same statement."""
    spellings = grammar().spellings
    words = [spellings[name].strip("'") for name in accepted if name in spellings and name not in KINDS]
    guess = nearest(token.value, words) if token.kind == "NAME" else None
    hint = f"Did you mean '{guess}'?" if guess and guess != token.value else mistake_in(before, token)
    shown = token.value if len(token.value) <= 40 else f"{token.value[:37]}..."
    if not before:
        report.add(
            token.start, token.end, f"'{shown}' does not open a statement. Statements: {', '.join(_OPENINGS)}.", hint
        )
        return
    report.add(token.start, token.end, f"expected {_acceptable_words(accepted)}, got '{shown}'.", hint)


def _acceptable_words(accepted: Iterable[str]) -> str:
    """What the grammar would accept, in words: values and operators by their kind, the rest by spelling."""
    names = set(accepted)
    words = []
    if names >= _OPERANDS:
        words.append("a value")
        names -= _OPERANDS | {"SUM_SIGN"}
    spellings = grammar().spellings
    by_sign = {name for name in names if spellings.get(name, "").strip("'") in _OPERATORS}
    if {"SUM_SIGN", "PRODUCT_SIGN"} <= names:
        words.append("an operator")
        names -= _OPERATORS | by_sign
    words += sorted(spellings.get(name, name.lower()) for name in names)
    return one_of(words or ["nothing more"])
