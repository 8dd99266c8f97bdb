"""Motions, forces, transforms and inertias. Oracles: 6x6 matrices written out in NumPy, points of a moving body in SymPy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sympy as sp

import torseur as ts
from torseur.errors import TorseurError

RNG = np.random.default_rng(4)


def tilde(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def rotation():
    q, _ = np.linalg.qr(RNG.normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


def motion():
    return ts.Motion(RNG.normal(size=3), RNG.normal(size=3))


def force():
    return ts.Force(RNG.normal(size=3), RNG.normal(size=3))


def inertia():
    root = RNG.normal(size=(3, 3))
    second_moments = root @ root.T  # of mass: ∫ r rᵀ dm
    central = np.trace(second_moments) * np.eye(3) - second_moments
    return ts.SpatialInertia(RNG.uniform(1, 3), RNG.normal(size=3), central)


def test_vectors_add_and_scale():
    a, b, f = motion(), motion(), force()
    assert np.allclose((2 * a - b / 4 + (-a)).vector, a.vector - b.vector / 4)
    assert np.allclose((np.float64(3) * f - f * 2).vector, f.vector)
    assert np.allclose(sum([a, b]).vector, a.vector + b.vector)
    assert a.dot(f) == f.dot(a) == pytest.approx(a.vector @ f.vector)


def test_cross_products_are_their_matrices():
    """ξ × by blocks [[ω̃, 0], [ṽ, ω̃]]; ×* is less its transpose, so that carried vectors keep their power."""
    a, b, f = motion(), motion(), force()
    w, v = a.vector[:3], a.vector[3:]
    cross = np.block([[tilde(w), np.zeros((3, 3))], [tilde(v), tilde(w)]])
    assert np.allclose(a.cross_matrix, cross)
    assert np.allclose(a.cross_force_matrix, -cross.T)
    assert np.allclose(a.cross(b).vector, cross @ b.vector)
    assert np.allclose(a.cross_force(f).vector, -cross.T @ f.vector)
    assert a.cross(b).dot(f) + b.dot(a.cross_force(f)) == pytest.approx(0)
    assert np.allclose(a.cross(a).vector, 0)  # with the sign printed on the slide it would not vanish


def test_transforms_are_their_matrices():
    R, r = rotation(), RNG.normal(size=3)
    X = ts.Transform(R, r)
    by_hand = np.block([[R.T, np.zeros((3, 3))], [R.T @ tilde(r).T, R.T]])
    assert np.allclose(X.motion_matrix, by_hand)
    assert np.allclose(X.force_matrix, np.linalg.inv(by_hand).T)
    a, f, body = motion(), force(), inertia()
    assert np.allclose((X @ a).vector, by_hand @ a.vector)
    assert np.allclose((X @ f).vector, X.force_matrix @ f.vector)
    assert (X @ a).dot(X @ f) == pytest.approx(a.dot(f))
    back = np.linalg.inv(by_hand)
    assert np.allclose((X @ body).spatial_matrix, back.T @ body.spatial_matrix @ back)
    assert isinstance(X @ body, ts.SpatialInertia)
    Y = ts.Transform(rotation(), RNG.normal(size=3))
    assert np.allclose((Y @ X).motion_matrix, Y.motion_matrix @ by_hand)
    assert np.allclose((X.inverse @ (X @ a)).vector, a.vector)


def test_inertia_is_that_of_the_slide_and_of_points():
    """[[I - m c̃ c̃, m c̃], [m c̃ᵀ, m 1]], and the kinetic energy of four points."""
    masses, points = RNG.uniform(1, 2, 4), RNG.normal(size=(4, 3))
    m, c = masses.sum(), masses @ points / masses.sum()
    central = -sum(mk * tilde(p - c) @ tilde(p - c) for mk, p in zip(masses, points, strict=True))
    body = ts.SpatialInertia(m, c, central)
    expected = np.block([[central - m * tilde(c) @ tilde(c), m * tilde(c)], [m * tilde(c).T, m * np.eye(3)]])
    assert np.allclose(body.spatial_matrix, expected)
    single = sum(
        (ts.SpatialInertia(mk, p, [0, 0, 0]) for mk, p in zip(masses[1:], points[1:], strict=True)),
        start=ts.SpatialInertia(masses[0], points[0], [0, 0, 0]),
    )
    assert np.allclose(single.spatial_matrix, expected)
    assert np.allclose([*single.centre], c)
    xi = motion()
    energy = sum(mk * np.sum(np.array([*xi.velocity_at(p)]) ** 2) / 2 for mk, p in zip(masses, points, strict=True))
    assert body.kinetic_energy(xi) == pytest.approx(energy)


def test_points_of_application():
    w, v, p, m, f = RNG.normal(size=(5, 3))
    assert np.allclose([*ts.Motion.at_point(w, v, p).velocity_at(p)], v)
    assert np.allclose([*ts.Force.at_point(m, f, p).moment_at(p)], m)
    assert ts.Motion.at_point(w, v, p).dot(ts.Force.at_point(m, f, p)) == pytest.approx(w @ m + v @ f)


def test_dual_bases():
    basis = [motion() for _ in range(6)]
    dual = ts.algebra.dual_basis(basis)
    assert np.allclose([[d.dot(e) for e in dual] for d in basis], np.eye(6))
    a = motion()
    assert np.allclose(
        sum(c * d for c, d in zip(ts.algebra.coordinates_in(basis, a), basis, strict=True)).vector, a.vector
    )
    k = ts.symbol("k")
    units = [ts.Motion(row[:3], row[3:]) for row in np.eye(6).tolist()]
    skewed = [units[0] * k + units[1], *units[1:]]
    ours = ts.algebra.dual_basis(skewed)
    assert str(skewed[0].dot(ours[0])) == "1" or ts.to_sympy(skewed[0].dot(ours[0])).simplify() == 1
    assert ts.to_sympy(skewed[0].dot(ours[1])).simplify() == 0


def turning_body():
    """A body that turns about two axes and moves along a curve: R(t), p(t) and its spatial velocity at O."""
    t = sp.Symbol("t")
    a, b = t**2 / 3, sp.sin(t)
    Rz = sp.Matrix([[sp.cos(a), -sp.sin(a), 0], [sp.sin(a), sp.cos(a), 0], [0, 0, 1]])
    Rx = sp.Matrix([[1, 0, 0], [0, sp.cos(b), -sp.sin(b)], [0, sp.sin(b), sp.cos(b)]])
    R, p = Rz * Rx, sp.Matrix([t, t**2, sp.cos(t)])
    W = R.diff(t) * R.T
    w = sp.Matrix([W[2, 1], W[0, 2], W[1, 0]])
    return t, R, p, ts.Motion.at_point(list(w), list(p.diff(t)), list(p))


NOW = 0.7


def numbers(vector, t):
    return np.array([float(x) for x in vector.to_sympy().subs(t, NOW)])


@pytest.mark.slow
def test_vectors_fixed_in_a_body_change_by_the_cross_products():
    """d/dt of X⁻¹ s with s constant in the body is ξ × s, for forces ξ ×* s."""
    t, R, p, xi = turning_body()
    X = ts.Transform(R, list(p))
    carried, pushed = X.inverse @ ts.Motion([1, -2, 0.5], [0, 3, 1]), X.inverse @ ts.Force([1, -2, 0.5], [0, 3, 1])
    assert np.allclose(numbers(carried.derivative(t), t), numbers(xi.cross(carried), t))
    assert np.allclose(numbers(pushed.derivative(t), t), numbers(xi.cross_force(pushed), t))


def test_derivative_in_a_moving_basis():
    """X (ds/dt) = d(X s)/dt + ξ × (X s), with ξ in the moving basis."""
    t, R, p, xi = turning_body()
    X = ts.Transform(R, list(p))
    s = ts.Motion([t, t**3, 1], [sp.cos(t), 0, t])
    assert np.allclose(numbers(X @ s.derivative(t), t), numbers((X @ s).derivative(t, frame=X @ xi), t))
    f = ts.Force([t, t**3, 1], [sp.cos(t), 0, t])
    assert np.allclose(numbers(X @ f.derivative(t), t), numbers((X @ f).derivative(t, frame=X @ xi), t))


def test_spatial_and_classical_acceleration():
    """The classical one is that of the body's point at O, whose place is R c + p with c constant."""
    t, R, p, xi = turning_body()
    acceleration = xi.derivative(t)
    classical = acceleration.classical(xi)
    fixed = -(R.T * p).subs(t, NOW)  # at O now
    point = R * fixed + p
    assert np.allclose(numbers(classical, t)[3:], np.array(point.diff(t, 2).subs(t, NOW), dtype=float).ravel())
    assert np.allclose(numbers(classical.spatial(xi), t), numbers(acceleration, t))
    assert not np.allclose(numbers(classical, t), numbers(acceleration, t))


def test_rates_of_several_symbols():
    q, v = ts.symbol("q"), ts.symbol("v")
    rate = ts.Motion([0, 0, v], [ts.sin(q), 0, 0]).derivative({q: v, v: 2})
    assert [str(x) for x in rate.vector] == ["0", "0", "2", "cos(q)*v", "0", "0"]


def test_a_chain_of_bodies():
    """ξ_i = Σ s_k q_k': the tip of a plane arm, whose velocity is that of its place."""
    q1, q2, v1, v2 = sp.symbols("q1 q2 v1 v2")
    elbow = [sp.cos(q1), sp.sin(q1), 0]
    xi = ts.Motion.revolute([0, 0, 1]) * v1 + ts.Motion.revolute([0, 0, 1], elbow) * v2
    tip = sp.Matrix([sp.cos(q1) + sp.cos(q1 + q2), sp.sin(q1) + sp.sin(q1 + q2), 0])
    velocity = sp.Matrix([*xi.velocity_at(tip)])
    assert sp.simplify(velocity - tip.diff(q1) * v1 - tip.diff(q2) * v2) == sp.zeros(3, 1)


def test_lie_brackets():
    """Jacobi's identity; B(v, v) in Euler's equations; B and C by their definitions in 6x6 matrices."""
    a, b, c, H = motion(), motion(), motion(), inertia()
    bracket = ts.algebra.bracket
    cyclic = bracket(a, bracket(b, c)) + bracket(b, bracket(c, a)) + bracket(c, bracket(a, b))
    assert np.allclose(cyclic.vector, 0)
    M = H.spatial_matrix
    B = -a.cross_matrix.T @ M @ b.vector
    assert np.allclose(ts.algebra.bracket_b(H, a, b).vector, B)
    C = B - b.cross_matrix.T @ M @ a.vector + M @ a.cross_matrix @ b.vector
    assert np.allclose(ts.algebra.bracket_c(H, a, b).vector, C)
    top = ts.SpatialInertia(1, [0, 0, 0], [1, 2, 3])
    spin = ts.Motion([2, 3, 5], [0, 0, 0])
    assert np.allclose(ts.algebra.bracket_b(top, spin, spin).vector, [(3 - 2) * 15, (1 - 3) * 10, (2 - 1) * 6, 0, 0, 0])


def test_printing_as_on_the_slides():
    assert str(ts.Motion([0, 0, 1], [0.2, 0, 0])).splitlines()[2:5] == ["|   1 |", "| --- |", "| 0.2 |"]
    assert repr(ts.Force([0, 0, 5], [10, 0, 0])) == "Force([0, 0, 5], [10, 0, 0])"
    q, r = ts.symbol("q"), ts.symbol("r")
    shown = str(ts.Transform.about([0, 0, 1], q, [r, 0, 0]))
    assert "cos(q)" in shown and "sin(q)*r" in shown.replace("r*sin(q)", "sin(q)*r") and shown.count("\n") == 6
    assert r"\omega" not in ts.Motion([0, 0, 1], [0, 0, 0])._repr_latex_()


A, F = motion(), force()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: A + F, "expected a Motion"),
        (lambda: A.cross(F), "cross_force"),
        (lambda: A.cross_force(A), "expected a Force"),
        (lambda: A.dot(A), "by forces alone"),
        (lambda: A * F, "times Force"),
        (lambda: 3 + A, "Motion"),
        (lambda: ts.Motion([1, 2], [0, 0, 0]), "three components"),
        (lambda: ts.Motion("abc", [0, 0, 0]), "three components"),
        (lambda: ts.Motion([1, 2, "x"], [0, 0, 0]), "'x' is neither a number"),
        (lambda: ts.Motion([1, 2, float("nan")], [0, 0, 0]), "not a finite real number"),
        (lambda: ts.Transform(2 * np.eye(3)), "not a rotation"),
        (lambda: ts.Transform(np.diag([1.0, 1, -1])), "reflects"),
        (lambda: ts.Transform.about([0, 0, 0], 1), "a direction other than"),
        (lambda: ts.Transform.at([1, 0, 0]) @ 3, "expected a Motion"),
        (lambda: ts.SpatialInertia(-1, [0, 0, 0], [1, 1, 1]), "negative"),
        (lambda: ts.SpatialInertia(1, [0, 0, 0], [1, 1, -1]), "which no body has"),
        (lambda: ts.SpatialInertia(1, [0, 0, 0], [[1, 2, 0], [0, 1, 0], [0, 0, 1]]), "differ"),
        (lambda: ts.SpatialInertia(0, [0, 0, 0], [1, 1, 1]).centre, "without mass"),
        (lambda: A.derivative(3), "not a symbol of torseur or SymPy"),
        (lambda: ts.algebra.dual_basis([A] * 6), "dependent"),
        (lambda: ts.algebra.dual_basis([A]), "six vectors, got 1"),
    ],
)
def test_bad_input(call, said):
    with pytest.raises(TorseurError, match=said):
        call()


def test_moments_of_no_rigid_body_are_warned_of():
    """I1 + I2 - I3 = 2 ∫ z² dm ≥ 0; a plate meets the bound, and a planar body is told by one moment alone."""
    with pytest.warns(UserWarning, match="1, 1, 5 break the triangle inequality") as caught:
        ts.SpatialInertia(1, [0, 0, 0], [1, 1, 5])
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for moments in ([1, 1, 2], [0, 0, 5], [0, 1, 1], [0, 0, 0]):
            ts.SpatialInertia(1, [0, 0, 0], moments)


def test_multiples_of_inertias_and_powers_of_transforms_are_those_of_their_matrices():
    body, X = inertia(), ts.Transform(rotation(), RNG.normal(size=3))
    assert np.allclose((body * 3 / 2).spatial_matrix, 1.5 * body.spatial_matrix)
    assert np.allclose((np.float64(2) * body).spatial_matrix, 2 * body.spatial_matrix)
    for k in (-2, 0, 3):
        assert np.allclose((X**k).motion_matrix, np.linalg.matrix_power(X.motion_matrix, k))
    with pytest.raises(TorseurError, match="whole number"):
        X**0.5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sympy", "graph"])
def test_the_velocity_of_a_frame_carries_what_is_fixed_in_it(kind):
    """A motion and an inertia that are constant in the frame, seen from its parent: (X⁻¹ s)' = ξ × X⁻¹ s."""
    t, cosine = (sp.Symbol("t"), sp.cos) if kind == "sympy" else (ts.symbol("t"), ts.cos)
    X = ts.Transform.about([0, 0, 1], t * t, [t, 0, 1]).then(ts.Transform.about([1, 0, 0], 2 * t, [0, cosine(t), 0]))
    fixed, body = ts.Motion([1, 2, 3], [0, 1, -1]), ts.SpatialInertia(2, [1, 0, 2], [1, 2, 3 - 0.5])
    xi, back = X.velocity(t), X.inverse
    pairs = [((back @ fixed).derivative(t).vector, xi.cross(back @ fixed).vector)]
    zero = (back @ body).derivative(t, frame=-xi).spatial_matrix.ravel()
    pairs.append((zero, np.zeros(36)))
    for left, right in pairs:
        for a, b in zip(left, right, strict=True):
            difference = sp.sympify(ts.to_sympy(a - b) if hasattr(a - b, "op") else a - b)
            assert abs(difference.subs({s: 0.7 for s in difference.free_symbols}).evalf()) < 1e-9
    assert len(str(xi.angular.x)) < 30  # no c² + s² is left


def test_dual_bases_with_numbers_among_the_symbols():
    """SymPy's determinant of this matrix with decimals in it is zero; by hand it is cos th."""
    th = sp.Symbol("th")
    axes = [[0, 0, 1], [0, 1, 0], [sp.cos(th), sp.sin(th), 0]]
    basis = [ts.Motion.revolute(u, p) for u, p in zip(axes, ([0, 0, 0], [1, 0, 0], [0, 0, 0.5]), strict=True)]
    basis += [ts.Motion.prismatic(u) for u in ([1, 0, 0], [0, 1, 0], [0, 0, 1])]
    dual = ts.algebra.dual_basis(basis)
    assert sp.Matrix(6, 6, lambda i, j: sp.nsimplify(sp.simplify(basis[i].dot(dual[j])))) == sp.eye(6)
    assert ts.algebra.coordinates_in(basis, basis[2])[2].equals(1)
    again = ts.algebra.dual_basis(dual)
    for left, right in zip(again, basis, strict=True):
        assert all(sp.nsimplify(sp.simplify(x)) == 0 for x in (left - right).vector)
