"""A formula ready for the page: verified MathML, its sign, its plain text to copy and its words for screen readers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from xml.etree import ElementTree

from torseur.presentation.typesetting import mathml as walker
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
    split_sign,
)
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.symbols import symbol

SIGNS_IN_WORDS = {"×": "cross", "·": "dot", "<": "is less than", "≤": "is at most"}
DERIVATIVES = {0: "", 1: " dot", 2: " double dot", 3: " triple dot"}
# What MathML Core calls presentation. Everything else (links, scripts, styles, events) could act on the page.
ELEMENTS = frozenset(
    ["math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "msub", "msup", "msubsup", "mover", "munder",
     "munderover", "mfrac", "msqrt", "mroot", "mtable", "mtr", "mtd"]
)  # fmt: skip
ATTRIBUTES = frozenset(["form", "lspace", "rspace", "width", "stretchy", "mathvariant", "accent", "separator"])


@dataclass(frozen=True)
class Formula:
    """Magnitude of an expression as MathML, and whether a minus stands before it.

    Only known elements and attributes pass, so that no text can become active content of a page.
    """

    mathml: str
    text: str
    words: str
    negative: bool = False

    def __post_init__(self) -> None:
        verify(self.mathml)

    def markup(self, leading: bool = True) -> str:
        """The MathML with its sign, as the first term or as a later one."""
        return walker.sign(self.negative, leading) + self.mathml

    def spell(self, leading: bool = True) -> str:
        """The words with their sign."""
        before = "minus " if self.negative else "" if leading else "plus "
        return before + self.words

    def write(self, leading: bool = True) -> str:
        """The plain text with its sign."""
        before = "-" if self.negative else ""
        return before + self.text if leading else f"{before or '+'} {self.text}"


def formula(node: Node) -> Formula:
    """A neutral expression made ready for the page."""
    # The sign stands apart from its term, so that the page can break a line before it and pair + with what follows.
    negative, size = split_sign(node)
    if isinstance(size, Sum) and negative:
        return Formula(walker.in_parentheses(size), f"({plain_text(size)})", f"open {words_of(size)} close", negative)
    return Formula(walker.mathml(size), plain_text(size), words_of(size), negative)


def name_formula(text: str, dots: int = 0, bold: bool = False) -> Formula:
    """A single name: `name_formula("q1", dots=2)`."""
    return formula(Name(text, dots, bold))


def verify(markup: str) -> None:
    """Raise unless the markup is well formed and holds nothing but presentation MathML."""
    # Parsed and not searched for forbidden words: what is well formed and has known elements and attributes only cannot
    # run, whatever the names of a description hold.
    for element in ElementTree.fromstring(f"<math>{markup}</math>").iter():
        if element.tag not in ELEMENTS:
            raise ValueError(f"formula: element <{element.tag}> is not presentation MathML")
        unknown = set(element.attrib) - ATTRIBUTES
        if unknown:
            raise ValueError(f"formula: attribute {sorted(unknown)[0]!r} is not allowed in a formula")


def words_of(node: Node) -> str:
    """The expression in words: m 2 l 2 squared q 1 double dot."""
    match node:
        case Number():
            return _digits(node.value).replace("/", " over ")
        case Name():
            parts = symbol(node.text)
            return " ".join((parts.base, *parts.subscripts)) + DERIVATIVES.get(node.dots, f" derivative {node.dots}")
        case Sum():
            return _sum_words(node)
        case Product():
            return " ".join(_grouped_words(factor) for factor in node.factors)
        case Power():
            return _power_words(node)
        case Call():
            return f"{node.function} of {' and '.join(map(_grouped_words, node.arguments))}"
        case Infix():
            return f"{_grouped_words(node.left)} {SIGNS_IN_WORDS[node.sign]} {_grouped_words(node.right)}"
        case Over():
            return f"{words_of(node.inner)} tilde"


def _power_words(node: Power) -> str:
    exponent = f"to the power {words_of(node.exponent)}"
    if isinstance(node.exponent, Number):
        exponent = {"2": "squared", "3": "cubed"}.get(_digits(node.exponent.value), exponent)
    if isinstance(node.base, Call):
        return f"{node.base.function} {exponent} of {' and '.join(map(_grouped_words, node.base.arguments))}"
    return f"{_grouped_words(node.base)} {exponent}"


def _grouped_words(node: Node) -> str:
    return f"open {words_of(node)} close" if isinstance(node, Sum | Infix) else words_of(node)


def _sum_words(node: Sum) -> str:
    text = ""
    for index, term in enumerate(node.terms):
        negative, size = split_sign(term)
        joint = " minus " if negative else " plus "
        text += (joint if index else "minus " if negative else "") + words_of(size)
    return text


def _digits(value: Fraction | float) -> str:
    return str(value) if isinstance(value, Fraction) else f"{value:.6g}"
