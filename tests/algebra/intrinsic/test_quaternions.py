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
