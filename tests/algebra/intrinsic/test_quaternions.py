"""Quaternions at three levels. Oracle: SymPy's own quaternions, component by component."""

from __future__ import annotations

import pytest
import sympy
from sympy.algebras.quaternion import Quaternion

from torseur.algebra.intrinsic import (
    IntrinsicError,
    Mixed,
    is_zero,
    product_of_numbers,
    quaternion,
    vector,
)

p, q, r = quaternion("p"), quaternion("q"), quaternion("r", unit=False)


def test_symbolic_rules():
    assert (p * q * (p * q).conjugate - p * p.conjugate).is_zero
    assert ((p * q) * r - p * (q * r)).is_zero
    assert not (p * q - q * p).is_zero
    ((word, square),) = (r * r.conjugate).terms
    assert word == () and square == sympy.Symbol("|r|", positive=True) ** 2


def test_scalar_and_vector_agree_with_four_numbers():
    mixed = (p * q).mixed()
    ours = mixed.numbers()
    theirs = Quaternion(*Mixed.named("p").numbers()) * Quaternion(*Mixed.named("q").numbers())
    assert [sympy.expand(x - y) for x, y in zip(ours, (theirs.a, theirs.b, theirs.c, theirs.d), strict=True)] == [0] * 4


def test_four_numbers_multiply():
    given = (1, 2, 3, 4), (5, -6, 7, sympy.Rational(1, 2))
    theirs = Quaternion(*given[0]) * Quaternion(*given[1])
    assert product_of_numbers(*given) == (theirs.a, theirs.b, theirs.c, theirs.d)
    with pytest.raises(IntrinsicError, match="four numbers"):
        product_of_numbers((1, 2), given[1])


def test_rotation_of_a_vector_keeps_its_scalar_part_zero_and_follows_rodrigues():
    """q v q* = (s² - w·w) v + 2 (w·v) w + 2 s w x v."""
    from torseur.algebra.intrinsic import Cross, Dot

    one, v = Mixed.named("q"), vector("v")
    w, s = one.vector, one.scalar
    turned = one * Mixed.pure(v) * one.conjugate
    assert turned.scalar == 0
    assert is_zero(turned.vector - ((s**2 - Dot(w, w)) * v + 2 * Dot(w, v) * w + 2 * s * Cross(w, v)))
    assert is_zero(one.square - s**2 - Dot(w, w))


def test_all_operators_at_all_levels_agree():
    """Products, quotients, powers, norms and inverses of symbols, put in numbers."""
    from torseur.algebra.intrinsic import Dot, Quaternion

    p, q = quaternion("p", unit=False), quaternion("q", unit=False)
    numbers = {"p": (1, 2, -1, 3), "q": (2, 0, 1, -1)}
    values = {}
    for name, (w, *parts) in numbers.items():
        values[sympy.Symbol(f"{name}_0", real=True)] = w
        values |= {_component(name, k): c for k, c in enumerate(parts)}
        values[sympy.Symbol(f"|{name}|", positive=True)] = sympy.sqrt(w * w + sum(c * c for c in parts))
    P, Q = (Quaternion(*(sympy.Integer(c) for c in numbers[name])) for name in "pq")
    for symbols, own in (
        (p * q - q * p, P * Q - Q * P),
        (p.inverse * q, P.inverse * Q),
        (p / q, P / Q),
        (-(3 * p) / 2, P * sympy.Rational(-3, 2)),
        (p**2 * q.conjugate, P * P * Q.conjugate),
        (q**-1, Q.inverse),
    ):
        shown = symbols.mixed().numbers()
        assert [sympy.simplify(x.subs(values) - y) for x, y in zip(shown, own, strict=True)] == [0, 0, 0, 0]
    assert (p * q).norm.subs(values) == (P * Q).norm
    assert P * P.inverse == Quaternion(1, 0, 0, 0)
    mixed = p.mixed()
    assert sympy.simplify(mixed.inverse.numbers()[1].subs(values) - P.inverse.x) == 0
    turned = quaternion("p").mixed().matrix.as_explicit()
    by_hand = sympy.Matrix(P.matrix)
    explicit = turned.applyfunc(
        lambda e: e.replace(lambda x: isinstance(x, Dot), lambda x: x.as_explicit()).subs(values)
    )
    assert sympy.simplify(explicit - by_hand) == sympy.zeros(3, 3)


def _component(name, k):
    from torseur.algebra.intrinsic import vector

    return vector(name)[k, 0]


def test_matrices_of_quaternions():
    """q v q⁻¹ by the matrix, by the product and by Rodrigues' formula; q p and p q by 4x4 matrices."""
    import math

    import numpy as np

    from torseur.algebra.intrinsic import IntrinsicError, Quaternion

    q, p = Quaternion(1.0, 2.0, -1.0, 0.5), Quaternion(0.3, -1.0, 2.0, 1.0)
    matrix, v = np.array(q.matrix), np.array([1.0, 2.0, 3.0])
    assert np.allclose(matrix @ matrix.T, np.eye(3))
    assert np.allclose(matrix @ v, q.rotated(v))
    assert np.allclose(np.array(q.left_matrix) @ [*p], [*(q * p)])
    assert np.allclose(np.array(q.right_matrix) @ [*p], [*(p * q)])
    turn = Quaternion.about([0, 0, 2], math.pi / 2)
    assert np.allclose(turn.rotated([1, 0, 0]), [0, 1, 0])
    assert turn.norm == pytest.approx(1)
    for wrong in (
        lambda: Quaternion(0, 0, 0, 0).inverse,
        lambda: q + 1,
        lambda: q**0.5,
        lambda: Quaternion(1, "x", 0, 0),
    ):
        with pytest.raises(IntrinsicError):
            wrong()
    with pytest.raises(IntrinsicError, match="mixed"):
        _ = (quaternion("p") + quaternion("q")).inverse


def test_components_that_are_sums_print_in_brackets():
    """Without them a + b i with b = c + d would read a + c + d i."""
    from torseur.algebra.intrinsic import IntrinsicError, Quaternion

    a, b, c = sympy.symbols("a b c")
    assert str(Quaternion(a + b, b - c, -c, 2)) == "(a + b) + (b - c) i - c j + 2 k"
    assert str(Quaternion(1, 2, -1, 3)) == "1 + 2 i - 1 j + 3 k"
    with pytest.raises(IntrinsicError, match="a vector without components"):
        quaternion("p").mixed().rotated([1, 0, 0])
