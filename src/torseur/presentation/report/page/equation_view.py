"""Equations as HTML: one <math> per term in a row that wraps, each term knowing its bodies and its reason."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.presentation.report.page.equation_content import Equation, EquationBlock, Matrix, Origin, Term
from torseur.presentation.typesetting import mathml
from torseur.presentation.typesetting.formula import Formula
from torseur.presentation.typesetting.markup import Markup, element

STRUT = '<mspace height="0.95em" depth="0.5em"/>'  # equal heights, so that the lines below terms align
PATTERN_FROM = 9  # a matrix with more rows or columns is shown as a pattern of its non-zero entries


@dataclass(frozen=True)
class Index:
    """Numbers of the bodies and joints, which the page uses in place of names."""

    bodies: dict[str, int]
    joints: dict[str, int]

    def targets(self, bodies: tuple[str, ...], joints: tuple[str, ...] = ()) -> dict[str, str | None]:
        """Attributes that tie an element to what it lights up."""
        return {
            "data_body": " ".join(str(self.bodies[name]) for name in bodies) or None,
            "data_joint": " ".join(str(self.joints[name]) for name in joints) or None,
        }


def math(*parts: str, **attributes: object) -> Markup:
    """A formula of verified or package-made MathML."""
    return element("math", *map(Markup, parts), **attributes)


def block(content: EquationBlock, number: int, index: Index, with_definitions: bool = True) -> Markup:
    """A foldable card; without its definitions it has only their chips, and the page puts `definitions` in."""
    copy = element("button", "Copy", type="button", class_="copy", data_copy=f"equations-{number}")
    head = element("summary", element("span", content.title), element("small", content.subtitle))
    body = element(
        "div",
        *_introduction(content),
        *_line(content),
        *_equations(content, number, index),
        *_chips(content, number),
        *(definitions(content, number, index).values() if with_definitions else ()),
    )
    level = content.level or None
    return element("details", head, copy, body, class_="card block", open=content.is_open, data_level=level)


def equation(content: Equation, index: Index, number: int = 0, **attributes: object) -> Markup:
    """left = terms, each its own formula; the whole is one labelled group for screen readers."""
    shown = [_term(term, place, content.unit, index, number) for place, term in enumerate(content.terms)]
    shown = shown or [math("<mn>0</mn>")]
    left = [math(content.left.markup(), mathml.operator("="), class_="left", aria_hidden="true")]
    if content.left_terms:
        parts = [_term(term, place, content.unit, index, number) for place, term in enumerate(content.left_terms)]
        left = [*parts, math(mathml.operator("="), aria_hidden="true")]
    return element(
        "div", *left, *shown, class_="equation", role="group", aria_label=equation_words(content), **attributes
    )


def equation_words(content: Equation) -> str:
    """The whole equation in words."""
    terms = " ".join(term.formula.spell(leading=place == 0) for place, term in enumerate(content.terms))
    return f"{content.left.spell()} equals {terms or 'zero'}"


def equation_text(content: Equation) -> str:
    """The whole equation as text to copy."""
    terms = " ".join(term.formula.write(leading=place == 0) for place, term in enumerate(content.terms))
    return f"{content.left.write()} = {terms or '0'}"


def _term(term: Term, place: int, unit: str, index: Index, number: int) -> Markup:
    leading = place == 0
    formula = math(term.formula.markup(leading), STRUT)
    origin = term.origin or Origin("")
    attributes: dict[str, object] = {
        **index.targets(origin.bodies, origin.joints),
        "data_why": origin.text or None,
    }
    attributes["data_opens"] = " ".join(f"entry-{number}-{place}" for place in term.opens) or None
    attributes["data_unit"] = (unit or None) if term.values is not None else None
    colour = f" colour-{index.bodies[origin.bodies[0]]}" if origin.bodies else " colour-load" if term.origin else ""
    words = term.formula.spell(leading) + (f". {origin.text}" if origin.text else "")
    return element(
        "span",
        formula,
        class_="term" + colour,
        tabindex=0 if place == 0 else -1,
        role="img",
        aria_label=words,
        **attributes,
    )


def _introduction(content: EquationBlock) -> list[Markup]:
    return [element("p", content.introduction)] if content.introduction else []


def _line(content: EquationBlock) -> list[Markup]:
    """The line of matrices: bracketed tables while they are small, patterns of non-zero entries beyond."""
    if not content.line:
        return []
    matrices = [part for part in content.line if isinstance(part, Matrix)]
    if any(max(len(m.rows), len(m.rows[0])) >= PATTERN_FROM for m in matrices):
        return [_symbols(content), *(pattern(m) for m in matrices if len(m.rows[0]) > 1)]
    parts = [_table(part) if isinstance(part, Matrix) else mathml.operator(part) for part in content.line]
    return [element("div", math(*parts), class_="line")]


def _symbols(content: EquationBlock) -> Markup:
    parts = [part.symbol.markup() if isinstance(part, Matrix) else mathml.operator(part) for part in content.line]
    return element("div", math(*parts), class_="line")


def _table(matrix: Matrix) -> str:
    return mathml.matrix(tuple(tuple(entry.markup() for entry in row) for row in matrix.rows))


def pattern(matrix: Matrix) -> Markup:
    """Which entries of a large matrix are not zero, as a grid of small squares."""
    size, cells = 10, []
    for r, row in enumerate(matrix.rows):
        for c, entry in enumerate(row):
            if entry.text != "0":
                square = element(
                    "rect",
                    element("title", entry.text),
                    x=c * size,
                    y=r * size,
                    width=size - 1,
                    height=size - 1,
                )
                cells.append(square)
    rows, columns = len(matrix.rows), len(matrix.rows[0])
    filled = f"{len(cells)} of {rows * columns} entries of {matrix.symbol.words} are not zero"
    drawing = element(
        "svg",
        *cells,
        class_="pattern",
        viewBox=f"0 0 {columns * size} {rows * size}",
        width=min(columns * size * 1.4, 320.0),
        role="img",
        aria_label=filled,
    )
    return element("figure", drawing, element("figcaption", filled + "."), class_="pattern-box")


def _equations(content: EquationBlock, number: int, index: Index) -> list[Markup]:
    shown: list[Markup] = []
    for one in content.equations:
        if one.title:
            shown.append(element("h3", one.title))
        shown.append(equation(one, index, number))
    return shown


def definitions(content: EquationBlock, number: int, index: Index) -> dict[str, Markup]:
    """What is folded in a card, by the names that its chips know it by."""
    names = [f"entry-{number}-{place}" for place in range(len(content.folded))]
    rows = zip(names, content.folded, strict=True)
    return {name: equation(one, index, number, id=name, hidden=True) for name, one in rows}


def _chips(content: EquationBlock, number: int) -> list[Markup]:
    """Chips that unfold an entry each, as in "with the entries M11, M22"."""
    names = content.folded_names
    if not names:
        return []
    chips = [_chip(left, f"entry-{number}-{place}") for place, left in enumerate(names)]
    opened = any(term.opens for one in content.equations for term in one.all_terms)
    words = "select one, or its name in a term, to unfold it" if opened else "select one to unfold it"
    hint = element("span", words, class_="hint")
    return [element("div", element("span", content.folded_title), *chips, hint, class_="chips")]


def _chip(left: Formula, target: str) -> Markup:
    return element(
        "button",
        math(left.markup()),
        type="button",
        class_="chip",
        aria_expanded="false",
        aria_controls=target,
        aria_label=f"Show {left.words}",
    )
