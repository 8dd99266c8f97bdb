"""Random states of a tree, exact or in multiple precision: where identities are put to the test."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from random import Random
from typing import Any, cast

from torseur.algebra.graph import Expr, evaluate, live_nodes, symbols_of
from torseur.algebra.graph.evaluation import Laws
from torseur.derivation.tree import Tree
from torseur.description.mechanism import TIME
from torseur.errors import TorseurError

DIGITS = 50
_RATIONAL = {"add", "sub", "mul", "div", "neg", "symbol", "constant"}

Values = dict[Expr, Any]


def random_fraction(random: Random) -> Fraction:
    """A short fraction between -1 and 1, never zero."""
    # Short, because exact evaluation of long recursions doubles the digits with every product.
    return Fraction(random.choice((-1, 1)) * random.randint(1, 97), 101)


def random_parameters(tree: Tree, random: Random) -> dict[Expr, Fraction]:
    """Parameters near their given values, so that roots and lengths keep their sign; near 1/2, 1 or 2 where none is."""
    given = {p.symbol: p.value for p in tree.mechanism.parameters}
    return {symbol: _near(given.get(symbol), random) for symbol in tree.layout.parameters}


def _near(value: Expr | None, random: Random) -> Fraction:
    """A tenth off at most; a zero moves too, because it may hide what multiplies it."""
    centre = Fraction(random.choice((0.5, 1, 2)) if value is None else float(value))
    return centre + (centre or 1) * random_fraction(random) / 10


def rational_state(tree: Tree, random: Random) -> dict[Expr, Fraction]:
    """Time, coordinates, speeds, accelerations and parameters as fractions, near the initial state.

    Quaternions have unit length: p ∘ p / |p|² of a quaternion p with rational components is a rational unit one.
    """
    layout = tree.layout
    values = {x: random_fraction(random) for x in (TIME, *layout.coordinates, *layout.speeds, *layout.accelerations)}
    initial = {name: value for name, value in tree.mechanism.initial if not symbols_of([value])}
    values |= {q: values[q] + Fraction(float(initial[q.name])) for q in layout.coordinates if q.name in initial}
    for link in tree.links:
        if link.symbols.quaternion:
            w, x, y, z = (values[c] for c in link.symbols.quaternion)
            square = w * w + x * x + y * y + z * z
            # p ∘ p = (w² - |v|², 2 w v), |p ∘ p| = |p|²: of unit length without a root.
            squared = (2 * w * w - square, 2 * w * x, 2 * w * y, 2 * w * z)
            values |= {c: part / square for c, part in zip(link.symbols.quaternion, squared, strict=True)}
    return values | random_parameters(tree, random)


def multiple_precision() -> AbstractContextManager[None]:
    """Arithmetic of DIGITS digits within a with statement."""
    import mpmath

    return cast(AbstractContextManager[None], mpmath.workdps(DIGITS))


def multiple_precision_values(outputs: Sequence[Expr], state: Mapping[Expr, Fraction]) -> list[Any]:
    """The outputs at a state, to DIGITS digits."""
    import mpmath

    with multiple_precision():
        values = {x: mpmath.mpf(value.numerator) / value.denominator for x, value in state.items()}
        results = evaluate(outputs, values, stand_ins(outputs))
    if any(isinstance(value, mpmath.mpc) for value in results):
        raise TorseurError("the equations are not real at a random state near the initial one.")
    return results


def is_rational(nodes: Iterable[Expr]) -> bool:
    """Whether expressions hold nothing but arithmetic and sines and cosines of symbols."""
    return all(node.op in _RATIONAL or _is_circular(node) for node in nodes)


def _is_circular(node: Expr) -> bool:
    return node.op in ("sin", "cos") and node.args[0].op == "symbol"


def exact_values(outputs: Sequence[Expr], state: Mapping[Expr, Fraction], random: Random) -> list[Fraction]:
    """Rational outputs (see `is_rational`) at a state, as fractions.

    Sine and cosine of a symbol are a rational point of the circle. That point and the symbol's own value are
    independent: an identity between functions of x, sin x and cos x is one between polynomials modulo sin² + cos² = 1.
    """
    values: Values = dict(state)
    circle: dict[Expr, tuple[Fraction, Fraction]] = {}
    for node in live_nodes(outputs):
        if _is_circular(node):
            sine, cosine = circle.setdefault(node.args[0], _point_of_circle(random))
            values[node] = sine if node.op == "sin" else cosine
        elif node.op == "constant" and isinstance(node.data, float):
            values[node] = Fraction(node.data)
    return [Fraction(value) for value in evaluate(outputs, values)]


def _point_of_circle(random: Random) -> tuple[Fraction, Fraction]:
    half = random_fraction(random)
    return 2 * half / (1 + half * half), (1 - half * half) / (1 + half * half)


def stand_ins(outputs: Sequence[Expr]) -> Laws:
    """A polynomial for every undetermined function, the same at each call."""
    functions = {node.data.function for node in live_nodes(outputs) if node.op == "apply"}
    return {function.name: _polynomial(function.name, function.arity) for function in functions}


def _polynomial(name: str, arity: int) -> Callable[..., Any]:
    random = Random(zlib.crc32(name.encode()))
    terms = [(random_fraction(random), random_fraction(random)) for _ in range(arity)]

    def value(*arguments: Any) -> Any:
        total: Any = 1
        for (linear, quadratic), x in zip(terms, arguments, strict=True):
            total = (
                total + linear.numerator * x / linear.denominator + quadratic.numerator * x * x / quadratic.denominator
            )
        return total

    return value
