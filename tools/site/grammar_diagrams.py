"""Railroad diagrams of the language, drawn from the grammar that reads it."""

from __future__ import annotations

import io
import re
from pathlib import Path

from railroad import Choice, Diagram, DiagramItem, NonTerminal, OneOrMore, Optional, Sequence, Terminal, ZeroOrMore

GRAMMAR = Path(__file__).parents[2] / "src/torseur/description/language/syntax/grammar.lark"
WORD = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|[()\[\]|*+?])')
RULE = re.compile(r"^[!?]*([A-Za-z_]\w*): *(.*(?:\n +\|.*)*)", re.MULTILINE)

# Tokens that the lexer makes, and what they are to a reader.
TOKENS = {
    "NAME": "letters (Latin, accented, Greek), digits and `_`, not starting with a digit; anything else in backquotes",
    "NUMBER": "an integer or a decimal, with an exponent where needed: `3`, `0.25`, `1e-3`",
    "UNIT": "a unit without spaces, on the line of its number: `kg`, `m/s^2`, `N*m`, `deg`",
    "STRING": "a text in double quotes",
    "FRESH": "`?` and a name: an undetermined constant or function",
}
GROUPS = {
    "Statements": (
        "statement", "fact", "mechanism", "parameters", "parameter", "gravity", "initials", "initial", "is_or_about",
        "actuators",
    ),
    "Things that have a name": ("body", "definition", "law", "table", "table_points", "sensor"),
    "States beyond mechanics": ("states", "state", "state_equation", "unknown", "sampled", "triggered", "new_value"),
    "Joints": ("join", "sides", "declared_list", "declared"),
    "Loads": ("wrench", "wrench_part", "wrench_kind", "properties", "given", "spring", "spring_kind"),
    "Constraints": ("equation", "distance", "rolling", "loose", "bound"),
    "Drawings": ("drawing", "draw_on", "draw_between", "draw_through", "draw_of"),
    "Properties of bodies, joints and loads": (
        "items", "item", "property", "clause", "clause_word", "shape", "table_file", "speeds",
        "stops", "stop_range", "stop_part", "stop_word",
    ),
    "Formulas, loosest first": (
        "value", "fixed_in", "offset", "turned", "turn", "comparison", "compared", "sum", "terms", "term", "factors",
        "factor", "signed", "power", "raised", "atom", "number", "bracket", "enclosed", "call", "fresh", "reference",
        "name", "string",
    ),
}  # fmt: skip
OTHERS = "Further rules"

Node = tuple[str, tuple["Node", ...]]


def grammar_page() -> str:
    rules, marks = read_rules(GRAMMAR.read_text(encoding="utf-8"))
    listed = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, OTHERS: tuple(name for name in rules if name not in listed)}
    parts = [
        "# Grammar of the description language\n\n"
        "These diagrams are drawn from the grammar that the reader uses. Follow a line from left to right; words in "
        "bold are written as they are, the others are rules of this page. [The description language]"
        "(../docs/language.md) explains what the statements mean.\n"
    ]
    for title, names in groups.items():
        present = [name for name in names if name in rules]
        if present:
            parts.append(f"## {title}\n")
        parts += [
            f'({anchor(name)})=\n\n### {name}\n\n<div class="railroad">{svg(rules[name], rules, marks)}</div>\n'
            for name in present
        ]
    listing = "\n".join(f"`{token}`\n: {meaning}\n" for token, meaning in TOKENS.items())
    return "\n".join([*parts, "## Tokens\n", listing])


def read_rules(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """The right sides of the rules, and those of the tokens that are single words or signs."""
    text = re.sub(r"^\s*//.*$|^%.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r" -> \w+", "", text)  # names of alternatives, which only the reader of the tree needs
    sides = {name: " ".join(right.split()) for name, right in RULE.findall(text)}
    rules = {name: right for name, right in sides.items() if name.islower()}
    return rules, {name: right for name, right in sides.items() if name.isupper()}


def svg(right: str, rules: dict[str, str], marks: dict[str, str]) -> str:
    out = io.StringIO()
    Diagram(track(parse(WORD.findall(right)), rules, marks), type="simple").writeSvg(out.write)
    # Markdown ends a raw block at an empty line.
    drawn = " ".join(line.strip() for line in out.getvalue().splitlines() if line.strip())
    # The library writes the text of a link twice, which looks bold.
    return re.sub(r"(<text[^>]*>[^<]*</text>)\1", r"\1", drawn)


def parse(words: list[str]) -> Node:
    """The alternatives up to a closing bracket or the end, as a tree of (operator, parts). Consumes what it reads."""
    ways: list[list[Node]] = [[]]
    while words and words[0] not in ")]":
        word = words.pop(0)
        if word == "|":
            ways.append([])
        elif word in "*+?":
            ways[-1].append((word, (ways[-1].pop(),)))
        elif word in "([":
            inside = parse(words)
            words.pop(0)
            ways[-1].append(("?", (inside,)) if word == "[" else inside)
        else:
            ways[-1].append((word, ()))
    drawn = [way[0] if len(way) == 1 else ("then", tuple(separated(way))) for way in ways]
    return drawn[0] if len(drawn) == 1 else ("|", tuple(drawn))


def separated(way: list[Node]) -> list[Node]:
    """`x ("," x)*` is drawn as one x with the comma on the way back."""
    parts: list[Node] = []
    for part in way:
        operator, inside = part
        back = inside[0] if operator == "*" else ("", ())
        if parts and back[0] == "then" and len(back[1]) == 2 and back[1][1] == parts[-1]:
            parts[-1] = ("+", (parts[-1], back[1][0]))
        else:
            parts.append(part)
    return parts


def track(node: Node, rules: dict[str, str], marks: dict[str, str]) -> DiagramItem:
    operator, inside = node
    parts = [track(part, rules, marks) for part in inside]
    match operator:
        case "then":
            return Sequence(*parts)
        case "|":
            return Choice(0, *parts)
        case "?":
            return Optional(*parts)
        case "*":
            return ZeroOrMore(*parts)
        case "+":
            return OneOrMore(*parts)
    return leaf(operator, rules, marks)


def leaf(word: str, rules: dict[str, str], marks: dict[str, str]) -> DiagramItem:
    if word.startswith('"'):
        return Terminal(word[1:-1])
    if word in rules:
        return NonTerminal(word, href=f"#{anchor(word)}")
    if word in marks:
        signs = re.findall(r'"([^"]*)"', marks[word])
        return Terminal(signs[0]) if len(signs) == 1 else Choice(0, *map(Terminal, signs))
    return NonTerminal(word, href="#tokens")


def anchor(rule: str) -> str:
    """The anchor of a rule's heading, apart from those of the groups (a rule is called `joints` in neither)."""
    return f"rule-{rule.replace('_', '-')}"
