"""A formula ready for the page: verified MathML, its sign, its plain text and its words."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

from torseur.report import mathml as walker
from torseur.report.expression import Name, Node, Sum, split_sign
from torseur.report.spelled import plain, spoken

ELEMENTS = frozenset(
    [
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "ms",
        "mtext",
        "mspace",
        "msub",
        "msup",
        "msubsup",
        "mover",
        "munder",
        "munderover",
        "mfrac",
        "msqrt",
        "mroot",
        "mtable",
        "mtr",
        "mtd",
    ]
)
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
    negative, size = split_sign(node)
    if isinstance(size, Sum) and negative:
        return Formula(walker.parenthesised(size), f"({plain(size)})", f"open {spoken(size)} close", negative)
    return Formula(walker.mathml(size), plain(size), spoken(size), negative)


def named(text: str, dots: int = 0, bold: bool = False) -> Formula:
    """A single name: `named("q1", dots=2)`."""
    return formula(Name(text, dots, bold))


def verify(markup: str) -> None:
    """Raise unless the markup is well formed and holds nothing but presentation MathML."""
    for element in ElementTree.fromstring(f"<math>{markup}</math>").iter():
        if element.tag not in ELEMENTS:
            raise ValueError(f"formula: element <{element.tag}> is not presentation MathML")
        unknown = set(element.attrib) - ATTRIBUTES
        if unknown:
            raise ValueError(f"formula: attribute {sorted(unknown)[0]!r} is not allowed in a formula")
