"""Programs with their derivatives: against differences, and the identities that tangent and adjoint obey."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur import library
from torseur.computation.functions.frameworks.differentiable import Differentiable
from torseur.computation.functions.frameworks.requested_program import requested_program
from torseur.errors import TorseurError, UnsupportedError


@pytest.fixture(scope="module", params=["forward_dynamics", "mass_matrix", "energies"])
def of(request):
    return Differentiable(requested_program(library.load("double_pendulum"), request.param, live=True))


def arguments(of, front, seed=0):
    """Random inputs, away from zero so that masses and lengths are positive."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.5, 1.5, (*front, size)) for size in of.sizes]


def test_the_tangent_is_the_limit_of_differences(of):
    """Central differences with steps h and h/2, extrapolated: an error of order h⁴."""
    x, moved = arguments(of, (2, 3)), arguments(of, (2, 3), seed=1)

    def difference(h):
        up = of.on_host([a + h * b for a, b in zip(x, moved, strict=True)])
        down = of.on_host([a - h * b for a, b in zip(x, moved, strict=True)])
        return [(a - b) / (2 * h) for a, b in zip(up, down, strict=True)]

    coarse, fine = difference(1e-3), difference(5e-4)
    for found, a, b in zip(of.tangent.on_host([*x, *moved]), coarse, fine, strict=True):
        assert found == pytest.approx((4 * b - a) / 3, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("times", [0, 1])
def test_tangent_and_adjoint_are_transposes(of, times):
    """w · (J ẋ) = (Jᵀ w) · ẋ, of the function and of its derivatives."""
    of = of.adjoint if times else of
    x, moved, weights = arguments(of, ()), arguments(of, (), 1), arguments(of.adjoint, (), 2)[len(of.sizes) :]
    along = of.tangent.on_host([*x, *moved])
    back = of.adjoint.on_host([*x, *weights])
    left = sum(w @ a.reshape(-1) for w, a in zip(weights, along, strict=True))
    assert left == pytest.approx(sum(a @ b for a, b in zip(back, moved, strict=True)), rel=1e-12)


def test_second_derivatives_are_symmetric():
    of = Differentiable(requested_program(library.load("double_pendulum"), "forward_dynamics", live=False))
    x, weight = arguments(of, ()), np.array([0.3, -0.7])
    twice = of.adjoint.adjoint
    columns = [np.concatenate(twice.on_host([*x, weight, *np.split(unit, [2, 4])])[:3]) for unit in np.eye(6)]
    assert np.array(columns) == pytest.approx(np.array(columns).T, abs=1e-12)


def test_one_state_and_many_are_alike():
    of = Differentiable(requested_program(library.load("double_pendulum"), "forward_dynamics", live=False))
    many = arguments(of, (5,))
    (together,) = of.on_host(many)
    for k in range(5):
        assert of.on_host([a[k] for a in many])[0] == pytest.approx(together[k], rel=1e-14)
    assert of.on_host([a[:0] for a in many])[0].shape == (0, 2)
    assert of.on_host([a.astype(np.float32) for a in many])[0].dtype == np.float32


def test_what_cannot_be_taken_is_named():
    of = Differentiable(requested_program(library.load("double_pendulum"), "forward_dynamics", live=False))
    q = np.zeros((3, 2))
    with pytest.raises(TorseurError, match=r"takes 3 arrays, got 2"):
        of.check([q, q])
    with pytest.raises(TorseurError, match=r"v has shape \(3, 4\); expected \(..., 2\)"):
        of.check([q, np.zeros((3, 4)), q])
    with pytest.raises(TorseurError, match=r"do not go together: \(3, 2\), \(4, 2\)"):
        of.check([q, np.zeros((4, 2)), q])
    text = """mechanism slide ; let block = body mass = 1 kg end ;
    join earth and block.frame as rail with prismatic(x) along [1, 0, 0] end ;
    apply force [?F(x), 0, 0] on block.iframe ;"""
    with pytest.raises(UnsupportedError, match="undetermined functions"):
        requested_program(ts.parse(text), "forward_dynamics", live=False)
    with pytest.raises(TorseurError, match="which function"):
        requested_program(library.load("double_pendulum"), "", live=False)
