"""Normal form and zero test. Oracles: identities printed in the literature, and NumPy on random components."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.matrices.expressions import Identity, Trace

from torseur.algebra.intrinsic import (
    Cross,
    Dot,
    IntrinsicError,
    Matrix,
    Tilde,
    Vector,
    is_zero,
    matrix,
    normal_form,
    vector,
)

A, B = matrix("A"), matrix("B")
S, K, R = matrix("S", symmetric=True), matrix("K", skew=True), matrix("R", rotation=True)
a, b, c, d = map(vector, "abcd")
u = vector("u", unit=True)
k = sympy.Symbol("k")


def components(symbol, seed):
    """Random components with the declared properties."""
    rng = np.random.default_rng([seed, *str(symbol).encode()])
    if isinstance(symbol, Vector):
        value = rng.normal(size=(3, 1))
        return value / np.linalg.norm(value) if "unit" in symbol.properties else value
    value = rng.normal(size=(3, 3))
    if "symmetric" in symbol.properties:
        return value + value.T
    if "skew" in symbol.properties:
        return value - value.T
    if "rotation" in symbol.properties:
        q, _ = np.linalg.qr(value)
        return q * np.linalg.det(q)
    return value


def value(e, seed=0):
    """An expression in NumPy, written without the package."""
    parts = [value(x, seed) for x in e.args] if not isinstance(e, Vector | Matrix | sympy.Symbol) else []
    match e:
        case Vector() | Matrix():
            return components(e, seed)
        case Tilde():
            return np.cross(parts[0].ravel(), np.eye(3)).T
        case Cross():
            return np.cross(parts[0].ravel(), parts[1].ravel()).reshape(3, 1)
        case Dot():
            return float(parts[0].ravel() @ parts[1].ravel())
        case Trace():
            return float(np.trace(parts[0]))
        case Identity():
            return np.eye(3)
        case sympy.Symbol():
            return 0.37
    name = type(e).__name__
    if name == "Transpose":
        return parts[0].T
    if name == "Inverse":
        return np.linalg.inv(parts[0])
    if name in ("MatPow", "Pow"):
        return np.linalg.matrix_power(parts[0], int(e.args[1])) if name == "MatPow" else parts[0] ** parts[1]
    if name in ("MatAdd", "Add"):
        return sum(parts[1:], parts[0])
    if name in ("MatMul", "Mul"):
        total = parts[0]
        for part in parts[1:]:
            total = total @ part if np.ndim(total) == 2 and np.ndim(part) == 2 else total * part
        return total
    if name == "ZeroMatrix":
        return np.zeros(tuple(map(int, e.shape)))
    return float(e)


def test_identity_of_the_maple_page():
    """A B + (-A) (B - A) = A², as printed."""
    assert normal_form(A * B + (-A) * (B - A)) == A**2


def test_identity_of_the_ulysse_page():
    """The expression of the ULYSSE session rewrites to 0, In10 being any matrix."""
    rate, m = sympy.symbols("THp1 m10")
    axis, r, y, inertia = vector("R1"), vector("r10"), vector("y10"), matrix("In10")
    first = rate**2 * axis.T * Tilde(axis) * inertia * axis
    second = m * rate**2 * axis.T * Tilde(r) * Tilde(axis) * Tilde(axis) * y
    lever = m * axis.T * Tilde(r) - m * axis.T * Tilde(y)
    third = rate * lever * (rate * Tilde(axis) * Tilde(r) - rate * Tilde(r) * Tilde(axis)) * axis
    assert normal_form(-(first - second - third)) == 0
    assert is_zero(-(first - second - third)).by == "normal form"
    assert not is_zero(second - third)


IDENTITIES = {
    "Jacobi": Cross(a, Cross(b, c)) + Cross(b, Cross(c, a)) + Cross(c, Cross(a, b)),
    "double cross": Cross(a, Cross(b, c)) - Dot(a, c) * b + Dot(a, b) * c,
    "triple product is cyclic": Dot(a, Cross(b, c)) - Dot(c, Cross(a, b)),
    "Lagrange": Dot(Cross(a, b), Cross(c, d)) - Dot(a, c) * Dot(b, d) + Dot(a, d) * Dot(b, c),
    "tilde of a cross product": Tilde(Cross(a, b)) - Tilde(a) * Tilde(b) + Tilde(b) * Tilde(a),
    "tilde is skew": Tilde(a).T + Tilde(a),
    "rotation of a cross product": R * Cross(a, b) - Cross(R * a, R * b),
    "rotation of a tilde": Tilde(R * a) - R * Tilde(a) * R.T,
    "rotated triple product": Dot(R * a, Cross(R * b, R * c)) - Dot(a, Cross(b, c)),
    "triple product with one rotation": Dot(R * a, Cross(b, R * c)) - Dot(a, Cross(R.T * b, c)),
    "rotation inverse": R.I - R.T,
    "inverse of a product": (A * B).I - B.I * A.I,
    "symmetric": Dot(a, S * b) - Dot(b, S * a),
    "skew": Dot(a, K * a),
    "trace is cyclic": Trace(A * B) - Trace(B * A),
    "trace of similar": Trace(A * B * A.I) - Trace(B),
    "trace of symmetric and skew": Trace(S * Tilde(a)),
    "unit": Dot(u, u) * a - a,
    "projector": Tilde(u) * Tilde(u) - u * u.T + Identity(3),
    "unit cube": Tilde(u) * Tilde(u) * Tilde(u) + Tilde(u),
    "transpose of a product": (A * B).T - B.T * A.T,
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_identity_is_found_by_the_normal_form(name):
    assert is_zero(IDENTITIES[name]).by == "normal form"


BEYOND = {
    "two tildes about a matrix": Tilde(a) * A * Tilde(b)
    - (
        Dot(a, b) * A.T
        - A.T * b * a.T
        - Trace(A) * Dot(a, b) * Identity(3)
        + Dot(b, A * a) * Identity(3)
        + Trace(A) * b * a.T
        - b * a.T * A.T
    ),
    "four vectors of space depend on each other": Dot(b, Cross(c, d)) * a
    - Dot(a, Cross(c, d)) * b
    + Dot(a, Cross(b, d)) * c
    - Dot(a, Cross(b, c)) * d,
    "double angle": (sympy.sin(2 * k) - 2 * sympy.sin(k) * sympy.cos(k)) * a,
    "half angle": (sympy.cos(k) - 2 * sympy.cos(k / 2) ** 2 + 1) * a,
    "sum of angles": (sympy.sin(k + 1) - sympy.sin(k) * sympy.cos(1) - sympy.cos(k) * sympy.sin(1)) * a,
}


@pytest.mark.parametrize("name", BEYOND)
def test_identity_beyond_the_rules_is_found_at_random_points(name):
    verdict = is_zero(BEYOND[name])
    assert verdict and verdict.by == "random points"


NOT_ZERO = [a + b, A * B - B * A, Cross(a, b) + Cross(a, c), Tilde(a) * Tilde(b) - Tilde(b) * Tilde(a), A - A.T, u - a,
            (sympy.sin(2 * k) - sympy.sin(k)) * a]  # fmt: skip


@pytest.mark.parametrize("expression", NOT_ZERO, ids=str)
def test_what_is_not_zero_is_said_so(expression):
    assert is_zero(expression).by == "a point" and not is_zero(expression)


def vectors(depth):
    leaf = st.sampled_from([a, b, u])
    if depth == 0:
        return leaf
    inner, square = vectors(depth - 1), matrices(depth - 1)
    return st.one_of(
        leaf,
        st.builds(Cross, inner, inner),
        st.builds(lambda v, w: v + w, inner, inner),
        st.builds(lambda m, v: m * v, square, inner),
        st.builds(lambda v, w, x: Dot(v, w) * x, inner, inner, inner),
    )


def matrices(depth):
    leaf = st.sampled_from([A, S, K, R])
    if depth == 0:
        return leaf
    inner = matrices(depth - 1)
    return st.one_of(
        leaf,
        st.builds(Tilde, vectors(depth - 1)),
        st.builds(lambda m: m.T, inner),
        st.builds(lambda m, n: m * n, inner, inner),
        st.builds(lambda m, n: m - k * n, inner, inner),
    )


@settings(max_examples=60, deadline=None)
@given(st.one_of(vectors(2), matrices(2)))
def test_normal_form_keeps_the_value(expression):
    """Oracle: NumPy on random components."""
    form = normal_form(expression)
    for seed in range(2):
        expected = value(expression, seed)
        assert np.allclose(value(form, seed), expected, rtol=1e-9, atol=1e-9 * (1 + np.abs(expected).max()))
    assert normal_form(form) == form


@pytest.mark.parametrize(
    "build, message",
    [
        (lambda: Cross(a, A), "takes vectors"),
        (lambda: Tilde(k), "takes vectors"),
        (lambda: matrix("X", symmetric=True, rotation=True), "exclude each other"),
        (lambda: normal_form(sympy.MatrixSymbol("X", 3, 3)), "declared"),
    ],
)
def test_mistakes_are_named(build, message):
    with pytest.raises(IntrinsicError, match=message):
        build()
