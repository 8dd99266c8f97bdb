"""JAX functions against JAX's own checks by differences, and its transformations against each other."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur import library

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def in_double_precision():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(scope="module")
def dynamics():
    return ts.jax_function(library.load("double_pendulum"), "forward_dynamics", live=True)


def arguments(count=3):
    rng = np.random.default_rng(0)
    p = [float(p.value) for p in library.load("double_pendulum").parameters]
    return [*(jax.numpy.array(rng.normal(size=(count, 2))) for _ in range(3)), jax.numpy.array(p)]


def test_first_and_second_derivatives_are_those_of_differences(dynamics):
    from jax.test_util import check_grads

    check_grads(dynamics, arguments(2), order=2, modes=["fwd", "rev"])
    check_grads(jax.jit(dynamics), arguments(2), order=2, modes=["fwd", "rev"])


def test_transformations_agree(dynamics):
    q, v, tau, p = arguments()
    many = jax.jit(jax.vmap(dynamics, (0, 0, 0, None)))(q, v, tau, p)
    assert np.allclose(many, dynamics(q, v, tau, p), atol=1e-14)
    one = (q[0], v[0], tau[0], p)
    for k in range(4):
        back = jax.jit(jax.jacrev(dynamics, k))(*one)
        assert np.allclose(back, jax.jacfwd(dynamics, k)(*one), atol=1e-12)

    def total(q):
        return jax.numpy.sum(dynamics(q, v[0], tau[0], p) ** 2)

    hessian = jax.jit(jax.vmap(jax.hessian(total)))(q)
    assert np.allclose(hessian[0], jax.jacrev(jax.jacrev(total))(q[0]), atol=1e-9)
    assert np.allclose(hessian, np.swapaxes(hessian, 1, 2), atol=1e-9)


def test_a_scan_is_differentiated(dynamics):
    *_, p = arguments()

    def end(q):
        def step(state, _):
            q, v = state
            v = v + 0.01 * dynamics(q, v, jax.numpy.zeros(2), p)
            return (q + 0.01 * v, v), None

        return jax.lax.scan(step, (q, jax.numpy.zeros(2)), None, length=30)[0][0][0]

    start, h = jax.numpy.array([0.4, 0.2]), 1e-5
    slope = jax.jit(jax.grad(end))(start)
    for i, unit in enumerate(np.eye(2)):
        assert slope[i] == pytest.approx(float(end(start + h * unit) - end(start - h * unit)) / (2 * h), rel=1e-7)
