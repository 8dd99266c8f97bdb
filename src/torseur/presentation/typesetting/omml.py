"""Office Math (OMML) from a neutral expression tree: what Word calls an equation."""

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
from torseur.presentation.typesetting.symbols import symbol

NAMESPACE = "http://schemas.openxmlformats.org/officeDocument/2006/math"
DOTS = {1: "\u0307", 2: "\u0308", 3: "\u20db"}  # combining marks
HALF = Number(Fraction(1, 2))


def omml(node: Node) -> str:
    """The markup of an expression."""
    match node:
        case Number():
            return number(node.value)
        case Name():
            return name(node)
        case Sum():
            return "".join(_signed_term(term, index == 0) for index, term in enumerate(node.terms))
        case Product():
            return _product(node)
        case Power():
            return _power(node)
        case Call():
            return _call(node)
        case Infix():
            return _operand(node.left) + text(node.sign) + _operand(node.right)
        case Over():
            return _accent(omml(node.inner), "\u0303")


def paragraph(body: str) -> str:
    """An equation on a line of its own."""
    return f'<m:oMathPara xmlns:m="{NAMESPACE}"><m:oMath>{body}</m:oMath></m:oMathPara>'


def text(content: str, style: str = "") -> str:
    """A run of text; style "p" is upright, "b" bold, "bi" bold italic."""
    properties = f'<m:rPr><m:sty m:val="{style}"/></m:rPr>' if style else ""
    return f'<m:r>{properties}<m:t xml:space="preserve">{escape(content)}</m:t></m:r>'


def matrix(rows: tuple[tuple[str, ...], ...]) -> str:
    """Bracketed table of markup."""
    lines = "".join(f"<m:mr>{''.join(f'<m:e>{cell}</m:e>' for cell in row)}</m:mr>" for row in rows)
    return _in_delimiters(f"<m:m>{lines}</m:m>", "[", "]")


def number(value: Fraction | float) -> str:
    """A fraction, a whole number or a decimal."""
    if value < 0:
        return text("−") + number(-value)
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return text(str(value))
        return _fraction(text(str(value.numerator)), text(str(value.denominator)))
    mantissa, _, exponent = f"{value:.6g}".partition("e")
    return text(mantissa) + (text("×") + _superscript(text("10"), text(str(int(exponent)))) if exponent else "")


def name(node: Name) -> str:
    """A letter with its dots and subscripts."""
    parts = symbol(node.text)
    base = text(parts.base, "b" if node.bold else "p" if len(parts.base) > 1 else "")
    if node.dots in DOTS:
        base = _accent(base, DOTS[node.dots])
    elif node.dots:
        base = _superscript(base, text(f"({node.dots})"))
    if not parts.subscripts:
        return base
    return f"<m:sSub><m:e>{base}</m:e><m:sub>{text(','.join(parts.subscripts), 'p')}</m:sub></m:sSub>"


def _accent(base: str, mark: str) -> str:
    return f'<m:acc><m:accPr><m:chr m:val="{mark}"/></m:accPr><m:e>{base}</m:e></m:acc>'


def _superscript(base: str, exponent: str) -> str:
    return f"<m:sSup><m:e>{base}</m:e><m:sup>{exponent}</m:sup></m:sSup>"


def _fraction(above: str, below: str) -> str:
    return f"<m:f><m:num>{above}</m:num><m:den>{below}</m:den></m:f>"


def _in_delimiters(inner: str, left: str = "(", right: str = ")") -> str:
    properties = f'<m:dPr><m:begChr m:val="{left}"/><m:endChr m:val="{right}"/></m:dPr>'
    return f"<m:d>{properties}<m:e>{inner}</m:e></m:d>"


def _operand(node: Node) -> str:
    return _in_delimiters(omml(node)) if isinstance(node, Sum | Infix) else omml(node)


def _signed_term(node: Node, leading: bool) -> str:
    negative, size = split_sign(node)
    sign = text("−") if negative else "" if leading else text("+")
    return sign + (_in_delimiters(omml(size)) if isinstance(size, Sum) else omml(size))


def _product(node: Product) -> str:
    negative, size = split_sign(node)
    if negative:
        return text("−") + _operand(size)
    above, below = split_fraction(node)
    if below:
        return _fraction(omml(product(tuple(above))), omml(product(tuple(below))))
    return "".join((text("\u2009") if index else "") + _operand(factor) for index, factor in enumerate(node.factors))


def _power(node: Power) -> str:
    if node.exponent == HALF:
        return f'<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e>{omml(node.base)}</m:e></m:rad>'
    if (below := reciprocal(node)) is not None:
        return _fraction(text("1"), omml(below))
    base = omml(node.base) if isinstance(node.base, Name | Call) else _in_delimiters(omml(node.base))
    return _superscript(base, omml(node.exponent))


def _call(node: Call) -> str:
    if node.function == "transpose":
        (base,) = node.arguments
        inner = omml(base) if isinstance(base, Name) else _in_delimiters(omml(base))
        return _superscript(inner, text("T"))
    if node.function == "integral":
        integrand, variable, low, high = node.arguments
        limits = f"<m:sub>{omml(low)}</m:sub><m:sup>{omml(high)}</m:sup>"
        inner = _operand(integrand) + text("\u2009d") + omml(variable)
        return f'<m:nary><m:naryPr><m:chr m:val="∫"/></m:naryPr>{limits}<m:e>{inner}</m:e></m:nary>'
    inside = text(",").join(omml(argument) for argument in node.arguments)
    if node.function == "sqrt":
        return _power(Power(node.arguments[0], HALF))
    if node.function == "abs":
        return _in_delimiters(inside, "|", "|")
    if node.bold or symbol(node.function).subscripts:
        return name(Name(node.function, bold=node.bold)) + _in_delimiters(inside)
    head = text(node.function, "p")
    return f"<m:func><m:fName>{head}</m:fName><m:e>{_in_delimiters(inside)}</m:e></m:func>"
