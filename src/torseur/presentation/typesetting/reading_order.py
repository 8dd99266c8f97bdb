"""The order in which an engineer writes: m g l sin q, and accelerations before speeds before weight."""

from __future__ import annotations

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
from torseur.presentation.typesetting.symbols import symbol

# Letters by convention: masses and inertias, then stiffness and damping, gravity, then lengths.
LETTERS = "mMIJABCkKcdbgGFTRrlLh"
COORDINATE_LETTERS = "qxyzuvwθφψαβγϕ"


# Sort keys are tuples: the kind of the factor first, then its place within the kind, and its text at last, so that the
# order is the same on every run.
def factor_key(node: Node) -> tuple[int, int, int, str]:
    """Sort key of a factor: number, parameters, coordinates, rates, sums, functions."""
    inner = node.base if isinstance(node, Power) else node
    match inner:
        case Number():
            return (0, 0, 0, "")
        case Name():
            base = symbol(inner.text).base
            # The tree knows names and not what they stand for, so that a parameter called x is taken for a
            # coordinate. This
            # decides places in a product and nothing else.
            moving = inner.dots > 0 or base in COORDINATE_LETTERS
            return (2 if moving else 1, _rank(base) if not moving else -inner.dots, 0, inner.text)
        case Call():
            return (4, 0, 0, repr(inner.arguments))
        case Sum() | Product() | Power() | Infix() | Over():
            return (3, 0, 0, repr(inner))


def term_key(node: Node) -> tuple[int, int, int, str]:
    """Sort key of a term: accelerations, products of rates, rates, the rest; positive before negative."""
    negative, size = split_sign(node)
    seconds, firsts = _rates(size)
    # M v' before the terms of Coriolis and centrifugal forces, then damping, then weight and springs: as textbooks
    # write it.
    group = 0 if seconds else 1 if firsts >= 2 else 2 if firsts else 3
    return (group, int(negative), _length(size), repr(size))


def _rank(base: str) -> int:
    return LETTERS.find(base[:1]) if base[:1] in LETTERS else len(LETTERS)


def _rates(node: Node) -> tuple[int, int]:
    """How many second and first derivatives multiply in a term."""
    match node:
        case Name():
            return (int(node.dots >= 2), int(node.dots == 1))
        case Power(base=base, exponent=Number(value=value)):
            seconds, firsts = _rates(base)
            times = max(1, int(value))
            return (seconds * times, firsts * times)
        case Product():
            pairs = [_rates(factor) for factor in node.factors]
            return (sum(p[0] for p in pairs), sum(p[1] for p in pairs))
        case Sum():
            pairs = [_rates(term) for term in node.terms]
            return (max(p[0] for p in pairs), max(p[1] for p in pairs))
        case _:
            return (0, 0)


def _length(node: Node) -> int:
    return len(node.factors) if isinstance(node, Product) else 1
