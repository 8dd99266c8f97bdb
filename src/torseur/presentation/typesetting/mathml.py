"""MathML Core from a neutral expression tree. Every name is escaped: a user's name is only ever text."""

from __future__ import annotations

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
from torseur.presentation.typesetting.markup import escape
from torseur.presentation.typesetting.symbols import bold, symbol

THIN = '<mspace width="0.17em"/>'
APPLY = "<mo>&#x2061;</mo>"
WITHOUT_BRACKETS = ("sin", "cos", "tan")  # of a letter, or of a number times a letter
DOTS = {1: "˙", 2: "¨", 3: "\u20db"}
HALF = Number(Fraction(1, 2))


def mathml(node: Node, superscript: str = "") -> str:
    """The markup of an expression; `superscript` is an exponent to hang on a name or a function."""
    match node:
        case Number():
            return number(node.value)
        case Name():
            return name(node, superscript)
        case Sum():
            return row(*(_signed_term(term, leading=index == 0) for index, term in enumerate(node.terms)))
        case Product():
            return _product(node)
        case Power():
            return _power(node)
        case Call():
            return _call(node, superscript)
        case Infix():
            return row(_operand(node.left), f'<mo form="infix">{escape(node.sign)}</mo>', _operand(node.right))
        case Over():
            return f'<mover accent="true">{mathml(node.inner)}<mo>{escape(node.mark)}</mo></mover>'


def _operand(node: Node) -> str:
    """An operand of a product of vectors: sums and products of vectors in parentheses."""
    return in_parentheses(node) if isinstance(node, Sum | Infix) else mathml(node)


def _signed_term(node: Node, leading: bool) -> str:
    """A term with its sign; a leading plus is left out."""
    negative, size = split_sign(node)
    return sign(negative, leading) + (in_parentheses(size) if isinstance(size, Sum) else mathml(size))


def sign(negative: bool, leading: bool) -> str:
    """The sign before a term, spaced as an operator between terms or tight as a prefix."""
    if leading:
        return '<mo form="prefix">−</mo>' if negative else ""
    return f'<mo form="infix" lspace="0.2em" rspace="0.22em">{"−" if negative else "+"}</mo>'


def row(*parts: str) -> str:
    """Parts grouped as one."""
    return f"<mrow>{''.join(parts)}</mrow>"


def operator(text: str) -> str:
    """A relation or operator such as = between two expressions."""
    return f'<mo form="infix">{escape(text)}</mo>'


def in_parentheses(node: Node) -> str:
    """(node)"""
    return row("<mo>(</mo>", mathml(node), "<mo>)</mo>")


def number(value: Fraction | float) -> str:
    """A fraction, a whole number, or a decimal in scientific form when it is very large or small."""
    if value < 0:
        return row('<mo form="prefix">−</mo>', number(-value))
    if isinstance(value, Fraction):
        top, bottom = f"<mn>{value.numerator}</mn>", f"<mn>{value.denominator}</mn>"
        return top if value.denominator == 1 else f"<mfrac>{top}{bottom}</mfrac>"
    mantissa, _, exponent = f"{value:.6g}".partition("e")
    if not exponent:
        return f"<mn>{mantissa}</mn>"
    power = f"<msup><mn>10</mn>{number(Fraction(int(exponent)))}</msup>"
    return row(f"<mn>{mantissa}</mn>", "<mo>×</mo>", power)


def name(node: Name, superscript: str = "") -> str:
    """A letter with its dots, subscripts and exponent."""
    parts = symbol(node.text)
    base = _with_dots(_letter(parts.base, node.bold), node.dots)
    return _scripts(base, _subscript(parts.subscripts), superscript)


def matrix(rows: tuple[tuple[str, ...], ...]) -> str:
    """Bracketed table of markup."""
    cells = "".join(f"<mtr>{''.join(f'<mtd>{cell}</mtd>' for cell in line)}</mtr>" for line in rows)
    return row("<mo>[</mo>", f"<mtable>{cells}</mtable>", "<mo>]</mo>")


def _letter(text: str, is_bold: bool) -> str:
    shown = escape(bold(text) if is_bold else {"l": "ℓ"}.get(text, text))
    # MathML sets a single letter in italics and a word upright; only what differs from this is said.
    upright = is_bold or len(text) > 1
    return f'<mi mathvariant="normal">{shown}</mi>' if upright and len(shown) == 1 else f"<mi>{shown}</mi>"


def _with_dots(base: str, dots: int) -> str:
    if not dots:
        return base
    if dots in DOTS:
        return f'<mover accent="true">{base}<mo stretchy="false">{DOTS[dots]}</mo></mover>'
    return f"<msup>{base}{row('<mo>(</mo>', f'<mn>{dots}</mn>', '<mo>)</mo>')}</msup>"


def _subscript(parts: tuple[str, ...]) -> str:
    if not parts:
        return ""
    shown = ["<mn>" + part + "</mn>" if part.isdigit() else _subscript_word(part) for part in parts]
    return shown[0] if len(shown) == 1 else row('<mo separator="true">,</mo>'.join(shown))


def _subscript_word(part: str) -> str:
    return f'<mi mathvariant="normal">{escape(part)}</mi>' if len(part) == 1 else f"<mi>{escape(part)}</mi>"


def _scripts(base: str, below: str, above: str) -> str:
    if below and above:
        return f"<msubsup>{base}{below}{above}</msubsup>"
    if below:
        return f"<msub>{base}{below}</msub>"
    return f"<msup>{base}{above}</msup>" if above else base


def _product(node: Product) -> str:
    negative, size = split_sign(node)
    if negative:
        return row(sign(True, leading=True), _operand(size))
    above, below = split_fraction(node)
    if below:
        return _quotient(above, below)
    return row(*(_factor(factor, index) for index, factor in enumerate(node.factors)))


def _quotient(above: list[Node], below: list[Node]) -> str:
    """A fraction."""
    return f"<mfrac>{row(mathml(product(tuple(above))))}{row(mathml(product(tuple(below))))}</mfrac>"


def _factor(node: Node, index: int) -> str:
    """A factor in a product: sums in parentheses, a thin space before a function, a dot between numbers."""
    if isinstance(node, Sum | Infix):
        return in_parentheses(node)
    if isinstance(node, Number):
        return ("<mo>⋅</mo>" if index else "") + (in_parentheses(node) if index and node.value < 0 else mathml(node))
    function = node.base if isinstance(node, Power) else node
    return (THIN if index and isinstance(function, Call) else "") + mathml(node)


def _power(node: Power) -> str:
    if node.exponent == HALF:
        return f"<msqrt>{mathml(node.base)}</msqrt>"
    if (below := reciprocal(node)) is not None:
        return _quotient([], [below])
    exponent = mathml(node.exponent)
    if isinstance(node.base, Name) or (isinstance(node.base, Call) and _takes_exponent(node.base)):
        return mathml(node.base, exponent)
    return f"<msup>{in_parentheses(node.base)}{exponent}</msup>"


def _takes_exponent(call: Call) -> bool:
    return len(call.arguments) == 1 and call.function not in ("abs", "sqrt", "exp")


def _call(node: Call, superscript: str) -> str:
    if node.function == "transpose":
        (base,) = node.arguments
        return (
            mathml(base, "<mi>T</mi>") if isinstance(base, Name) else f"<msup>{in_parentheses(base)}<mi>T</mi></msup>"
        )
    if node.function == "integral":
        integrand, variable, low, high = node.arguments
        bounds = f"<msubsup><mo>∫</mo>{mathml(low)}{mathml(high)}</msubsup>"
        return row(bounds, _operand(integrand), THIN, "<mi>d</mi>", mathml(variable))
    if node.function == "sqrt":
        return f"<msqrt>{mathml(node.arguments[0])}</msqrt>"
    if node.function == "exp":
        return f"<msup><mi>e</mi>{mathml(node.arguments[0])}</msup>"
    if node.function == "abs":
        return row("<mo>|</mo>", mathml(node.arguments[0]), "<mo>|</mo>")
    head = name(Name(node.function, bold=node.bold), superscript)
    if node.bold:
        return row(head, "<mo>(</mo>", *map(mathml, node.arguments), "<mo>)</mo>")
    # Of a name that nobody knows for a function, tau t would be a product.
    if node.function in WITHOUT_BRACKETS and _is_simple(node.arguments[0]):
        return row(head, APPLY, THIN, mathml(node.arguments[0]))
    inner = '<mo separator="true">,</mo>'.join(map(mathml, node.arguments))
    return row(head, APPLY, "<mo>(</mo>", inner, "<mo>)</mo>")


def _is_simple(node: Node) -> bool:
    """Whether a function's argument reads well without parentheses: q, or 2 q."""
    if isinstance(node, Product):
        first, *rest = node.factors
        return isinstance(first, Number) and first.value > 0 and len(rest) == 1 and isinstance(rest[0], Name)
    return isinstance(node, Name)


def remark(text: str) -> str:
    """Words after a formula; nothing where there are none."""
    return f'<mspace width="2em"/><mtext>({escape(text)})</mtext>' if text else ""
