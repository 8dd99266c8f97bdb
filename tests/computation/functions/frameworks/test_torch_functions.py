"""PyTorch functions against PyTorch's own checks by differences, and its transformations against each other."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import torseur as ts
from torseur import library
from torseur.errors import TorseurError

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def dynamics():
    return ts.torch_function(library.load("double_pendulum"), "forward_dynamics", live=True)


def arguments(dynamics, count=3):
    generator = torch.Generator().manual_seed(0)
    sizes = dynamics.differentiable.sizes
    states = [torch.rand(count, n, dtype=torch.float64, generator=generator) for n in sizes[:-1]]
    return [*states, torch.rand(sizes[-1], dtype=torch.float64, generator=generator) + 1]


def test_first_and_second_gradients_are_those_of_differences(dynamics):
    x = [value.requires_grad_() for value in arguments(dynamics, 2)]
    assert torch.autograd.gradcheck(dynamics, x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(dynamics, x)


def test_function_transformations_agree(dynamics):
    q, v, tau, p = arguments(dynamics)
    rows = [dynamics(*state, p) for state in zip(q, v, tau, strict=True)]
    assert torch.allclose(torch.func.vmap(dynamics, (0, 0, 0, None))(q, v, tau, p), torch.stack(rows), atol=1e-14)
    backward = torch.func.jacrev(dynamics)(q[0], v[0], tau[0], p)
    assert torch.allclose(backward, torch.func.jacfwd(dynamics)(q[0], v[0], tau[0], p), atol=1e-13)
    of_all = torch.func.vmap(torch.func.jacrev(dynamics), (0, 0, 0, None))(q, v, tau, p)
    assert torch.allclose(of_all[0], backward, atol=1e-13)
    matrices = np.array(ts.compile(ts.derive(library.load("double_pendulum")), ["forward_dynamics/q"])(
        q=q[0].numpy(), v=v[0].numpy(), tau=tau[0].numpy(), p=p.numpy())["dvdot_dq"])  # fmt: skip
    assert np.allclose(backward.numpy(), matrices, atol=1e-12)


def test_a_mass_is_learnt_from_a_motion(dynamics):
    """Steps of a motion with the right parameters; gradient descent through them finds the mass again."""
    true = torch.tensor([float(p.value) for p in library.load("double_pendulum").parameters], dtype=torch.float64)

    def motion(p):
        q, v = torch.tensor([[0.3, 0.1]], dtype=torch.float64), torch.zeros(1, 2, dtype=torch.float64)
        path = []
        for _ in range(20):
            v = v + 0.02 * dynamics(q, v, torch.zeros_like(v), p)
            q = q + 0.02 * v
            path.append(q)
        return torch.cat(path)

    wanted, guess = motion(true).detach(), true.clone()
    guess[1] *= 1.3
    guess.requires_grad_()
    optimiser = torch.optim.LBFGS([guess], max_iter=30, line_search_fn="strong_wolfe", tolerance_change=1e-14)

    def miss():
        optimiser.zero_grad()
        loss = 1e4 * ((motion(guess) - wanted) ** 2).sum()
        loss.backward()
        return loss

    begin = float(miss().detach())
    optimiser.step(miss)
    assert float(miss().detach()) < 1e-6 * begin


def test_it_is_pickled_and_refuses_what_it_cannot_take(dynamics):
    x = arguments(dynamics)
    assert torch.equal(pickle.loads(pickle.dumps(dynamics))(*x), dynamics(*x))
    assert dynamics(*[value.float() for value in x]).dtype == torch.float32
    with pytest.raises(TorseurError, match="got ndarray"):
        dynamics(x[0].numpy(), *x[1:])
    with pytest.raises(TorseurError, match=r"got torch\.int64"):
        dynamics(x[0].long(), *x[1:])
    with pytest.raises(TorseurError, match="one type"):
        dynamics(x[0].float(), *x[1:])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_on_a_gpu_it_is_the_same(dynamics):
    x = [value.requires_grad_() for value in arguments(dynamics, 1000)]
    there = [value.detach().cuda().requires_grad_() for value in x]
    here, far = dynamics(*x), dynamics(*there)
    assert far.is_cuda and torch.allclose(far.cpu(), here, atol=1e-12)
    for loss in (here, far):
        slopes = torch.autograd.grad((loss**2).sum(), x if loss is here else there, create_graph=True)
        sum((s**2).sum() for s in slopes).backward()
    for a, b in zip(x, there, strict=True):
        assert torch.allclose(b.grad.cpu(), a.grad, rtol=1e-9, atol=1e-9)
