"""LaTeX from a neutral expression tree."""

from __future__ import annotations

import re
from fractions import Fraction

from torseur.presentation.typesetting.formula_tree import (
    Call,
    Infix,
    Name,
    Node,
    Number,
    Over,
    Power,
    Product,
    Sum,
    product,
    reciprocal,
    split_fraction,
    split_sign,
)
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.symbols import GREEK, symbol

DOTS = {1: r"\dot", 2: r"\ddot", 3: r"\dddot"}
KNOWN = {"sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "min", "max"}
SIMPLE = {"sin", "cos", "tan"}  # of a single letter, which needs no brackets
INVERSE = {"asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan"}
SIGNS = {"×": r"\times", "·": r"\cdot", "<": "<", "≤": r"\le"}
LETTERS = {letter: name for name, letter in GREEK.items()}
_UNIT = re.compile(r"\w+(?:[*/^]\w+)+")
SPECIAL = {
    "^": r"\textasciicircum{}",
    "_": r"\_",
    "%": r"\%",
    "#": r"\#",
    "&": r"\&",
    "$": r"\$",
    "{": r"\{",
    "}": r"\}",
    "\u2009": r"\,",
    "∂": r"\partial ",
}
LATIN_CAPITALS = set("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")  # Greek capitals that LaTeX has no command for


def latex(node: Node, superscript: str = "") -> str:
    """The source of an expression; `superscript` is an exponent to hang on a name or a function."""
    match node:
        case Number():
            return number(node.value)
        case Name():
            return name(node, superscript)
        case Sum():
            return "".join(_signed_term(term, index == 0) for index, term in enumerate(node.terms))
        case Product():
            return _product(node)
        case Power():
            return _power(node)
        case Call():
            return _call(node, superscript)
        case Infix():
            return f"{_operand(node.left)} {SIGNS[node.sign]} {_operand(node.right)}"
        case Over():
            return rf"\widetilde{{{latex(node.inner)}}}"


WIDTH = 80  # characters of plain text that fit on a line of an article


def broken_lines(left: str, right: Node, remark: str = "") -> str:
    """left &= right as lines of `align`, broken before a sign where the line gets long; a remark stands at the end.

    A bracket around a long sum cannot grow over a break, so it has one size: 0 &= m \\bigl( ... \\\\ & ... \\bigr).
    """
    lines, room = [f"{left} &="], WIDTH - len(left)
    for size, text in _pieces(right):
        if size > room and lines[-1].strip() not in (f"{left} &=", r"&\qquad"):
            lines.append(r"&\qquad")
            room = WIDTH - 6
        lines[-1] += text if text.startswith(" ") else f" {text}"
        room -= size
    if remark:
        if len(remark) > room:
            lines.append(r"&")
        lines[-1] += rf" \qquad \text{{({words(remark)})}}"
    return " \\\\\n".join(lines)


def _pieces(node: Node) -> list[tuple[int, str]]:
    """An expression in pieces between which a line may end, each with its width."""
    if isinstance(node, Sum):
        return [(len(plain_text(term)) + 3, _signed_term(term, k == 0)) for k, term in enumerate(node.terms)]
    if not isinstance(node, Product):
        return [(len(plain_text(node)), latex(node))]
    sums = [factor for factor in node.factors if isinstance(factor, Sum)]
    if len(sums) != 1 or len(plain_text(node)) <= WIDTH or split_fraction(node)[1]:
        return [(len(plain_text(node)), latex(node))]
    place = node.factors.index(sums[0])
    before, after = (product(part) for part in (node.factors[:place], node.factors[place + 1 :]))
    pieces = _pieces(sums[0])
    opening = rf"{latex(before)} \, \bigl(" if place else r"\bigl("
    closing = rf"\bigr) \, {latex(after)}" if node.factors[place + 1 :] else r"\bigr)"
    (first, head), *middle = pieces
    inside = [(first, f"{opening}{head}"), *middle]
    inside[-1] = (inside[-1][0] + len(plain_text(after)), inside[-1][1] + closing)
    return inside


def _operand(node: Node) -> str:
    return _in_brackets(node) if isinstance(node, Sum | Infix) else latex(node)


def _signed_term(node: Node, leading: bool) -> str:
    """A term with its sign; a leading plus is left out."""
    negative, size = split_sign(node)
    text = _in_brackets(size) if isinstance(size, Sum) else latex(size)
    if leading:
        return f"-{text}" if negative else text
    return f" {'-' if negative else '+'} {text}"


def number(value: Fraction | float) -> str:
    """A fraction, a whole number or a decimal."""
    if value < 0:
        return f"-{number(-value)}"
    if isinstance(value, Fraction):
        return str(value) if value.denominator == 1 else rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
    mantissa, _, exponent = f"{value:.6g}".partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa


def name(node: Name, superscript: str = "") -> str:
    """A letter with its dots, subscripts and exponent."""
    parts = symbol(node.text)
    base = _letter(parts.base)
    if node.bold:
        base = rf"\boldsymbol{{{base}}}" if base.startswith("\\") else rf"\mathbf{{{base}}}"
    if node.dots:
        base = f"{DOTS[node.dots]}{{{base}}}" if node.dots in DOTS else f"{base}^{{({node.dots})}}"
    below = ",".join(_subscript(part) for part in parts.subscripts)
    return base + (f"_{{{below}}}" if below else "") + (f"^{{{superscript}}}" if superscript else "")


def matrix(rows: tuple[tuple[str, ...], ...]) -> str:
    """Bracketed table of source."""
    lines = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{bmatrix}} {lines} \end{{bmatrix}}"


def _letter(text: str) -> str:
    if text in LETTERS and text not in LATIN_CAPITALS:
        return "\\" + LETTERS[text]
    if len(text) == 1:
        return {"l": r"\ell"}.get(text, escape(text))
    return rf"\mathrm{{{escape(text)}}}"


def _subscript(text: str) -> str:
    # An index of one letter is a quantity, as in p_r or v_x, and slanted like it.
    if text.isdigit() or (len(text) == 1 and text.isascii() and text.isalpha()):
        return text
    return _letter(text) if text in LETTERS else rf"\mathrm{{{escape(text)}}}"


def escape(text: str) -> str:
    """Characters that LaTeX would act upon, made harmless."""
    return "".join(SPECIAL.get(letter, letter) for letter in text.replace("\\", ""))


def words(text: str) -> str:
    """A remark to stand in \\text, units in it as they are printed: N·m, kg·m²."""
    return escape(_UNIT.sub(lambda unit: unit[0].replace("*", "·").replace("^2", "²").replace("^3", "³"), text))


def _in_brackets(node: Node) -> str:
    return rf"\left({latex(node)}\right)"


def _product(node: Product) -> str:
    negative, size = split_sign(node)
    if negative:
        return f"-{_operand(size)}"
    above, below = split_fraction(node)
    if below:
        return rf"\frac{{{latex(product(tuple(above)))}}}{{{latex(product(tuple(below)))}}}"
    return r" \, ".join(_operand(f) for f in node.factors)


def _power(node: Power) -> str:
    if isinstance(node.exponent, Number) and node.exponent.value == Fraction(1, 2):
        return rf"\sqrt{{{latex(node.base)}}}"
    if (below := reciprocal(node)) is not None:
        return rf"\frac{{1}}{{{latex(below)}}}"
    exponent = latex(node.exponent)
    if isinstance(node.base, Name) or (isinstance(node.base, Call) and node.base.function in KNOWN | INVERSE.keys()):
        return latex(node.base, exponent)
    return f"{_in_brackets(node.base)}^{{{exponent}}}"


def _call(node: Call, superscript: str) -> str:
    if node.function == "transpose":
        (base,) = node.arguments
        return latex(base, r"\mathsf{T}") if isinstance(base, Name) else rf"{_in_brackets(base)}^{{\mathsf{{T}}}}"
    if node.function == "integral":
        inner, variable, low, high = node.arguments
        return rf"\int_{{{latex(low)}}}^{{{latex(high)}}} {_operand(inner)} \, \mathrm{{d}}{latex(variable)}"
    inside = ", ".join(map(latex, node.arguments))
    if node.function in SIMPLE and isinstance(node.arguments[0], Name) and not superscript.startswith("-"):
        return rf"\{node.function}{f'^{{{superscript}}}' if superscript else ''} {inside}"
    if node.function == "sqrt":
        return rf"\sqrt{{{inside}}}"
    if node.function == "abs":
        return rf"\left|{inside}\right|"
    head = (
        rf"\{node.function}"
        if node.function in KNOWN
        else INVERSE.get(node.function) or name(Name(node.function, bold=node.bold))
    )
    above = f"^{{{superscript}}}" if superscript else ""
    return rf"{head}{above}\left({inside}\right)"
