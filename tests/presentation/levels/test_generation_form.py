"""The generation algorithm's matrices, against mass matrices and biases of formalisms that share nothing with it."""

from __future__ import annotations

import random

import numpy as np
import pytest

import torseur as ts
from torseur import library
from torseur.algebra.graph import Expr, as_expr, evaluate, time_derivative
from torseur.algebra.spatial import Vec3
from torseur.derivation.equations import Equations
from torseur.derivation.formalisms.ingredients.generation_steps import GenerationSteps
from torseur.description.mechanism import TIME
from torseur.presentation.levels.forms.generation_form import generation_steps, reduced_mass_matrix

DRIVEN = """mechanism driven ; param g = 9.81 m/s^2, m = 2 kg, l = 0.8 m, w = 3 rad/s ; gravity = [0, -g, 0] ;
let drum = body mass = 1 kg, centre = [0.1, 0.2, 0.3], inertia = diag(0.1, 0.2, 0.3) end ;
let bob = body mass = m, centre = [0.2, -l, 0.1], inertia = [[0.02, 0.001, 0], [0.001, 0.03, 0.002], [0, 0.002, 0.04]] end ;
join [0.4, 0.1, -0.2] @ earth and drum.frame as motor with link() dof = w*t || [0, 0.6, 0.8] end ;
join bob.frame and [0.3, 0, 0.1] ++ 1 @ drum as hinge with revolute(q) about [0.6, 0, 0.8] end ;"""


def _state(equations: Equations, seed: int) -> dict[Expr, float]:
    chance, layout = random.Random(seed), equations.layout
    state = {x: chance.uniform(0.3, 1.2) for x in (*layout.coordinates, *layout.speeds, *layout.parameters)}
    quaternion = [x for x in layout.coordinates if str(x.name) in ("e0", "e1", "e2", "e3")]
    size = sum(state[x] ** 2 for x in quaternion) ** 0.5
    state |= {x: state[x] / size for x in quaternion}
    return {**state, equations.time: 0.7}


def _numbers(rows: list[list[Expr]], state: dict[Expr, float]) -> np.ndarray:
    return np.array([[float(x) for x in evaluate(list(row), state)] for row in rows])


def _bias(steps: GenerationSteps) -> list[Expr]:
    """Ψᵀ (M (Ψ' v + d') - S - weight), from the blocks that the slides show: b of M v' + b = Q."""
    layout, tree = steps.equations.layout, steps.equations.tree
    moving = dict(zip(layout.coordinates, steps.equations.rates, strict=True))
    total = [as_expr(0)] * len(layout.speeds)
    for i, (psi, velocity) in enumerate(zip(steps.product, steps.velocities(), strict=True)):
        inertia, block = tree.links[i].inertia, steps.mass_block(i)
        first, w = steps.poses[i].rotation.matrix @ inertia.moment, Vec3(*velocity[3:])
        spin = Vec3(*(_dot(row[3:], [*w]) for row in block[3:]))
        # -S and the weight's share, both about O_i.
        loads = (*(w.cross(w.cross(first)) - tree.gravity * inertia.mass), *(w.cross(spin) - first.cross(tree.gravity)))
        force = [
            _dot(row, time_derivative(velocity, moving, TIME)) + extra for row, extra in zip(block, loads, strict=True)
        ]
        total = [t + _dot([row[k] for row in psi], force) for k, t in enumerate(total)]
    return total


def _dot(first: list[Expr], second: list[Expr]) -> Expr:
    return sum((a * b for a, b in zip(first, second, strict=True)), as_expr(0))


@pytest.mark.parametrize(
    ("name", "formalism"),
    [("double_pendulum", "kane"), ("satellite", "kane"), ("free_body", "boltzmann_hamel"), ("slider_crank", "lagrange"),
     ("driven", "kane")],
)  # fmt: skip
def test_substitution_gives_the_equations_of_another_formalism(name: str, formalism: str) -> None:
    """Ψᵀ M Ψ and Ψᵀ (M (Ψ' v + d') - S - weight) are M and b of Kane, Lagrange and Boltzmann-Hamel."""
    mechanism = ts.parse(DRIVEN) if name == "driven" else library.load(name)
    steps, other = GenerationSteps(ts.derive(mechanism)), ts.derive(mechanism, formalism)
    state = _state(other, 3)
    mass = _numbers([list(row) for row in other.mass_matrix], state)
    np.testing.assert_allclose(_numbers(steps.reduced_mass_matrix(), state), mass, atol=1e-12 * np.abs(mass).max())
    bias = _numbers([list(other.bias)], state)
    np.testing.assert_allclose(_numbers([_bias(steps)], state), bias, atol=1e-11 * np.abs(bias).max())
    assert steps.is_driven == (name == "driven")


@pytest.mark.slow
def test_the_slides_assignments_are_deduced() -> None:
    """Massless arms give zero blocks; a mass centre at the origin gives V0T = 0."""
    text = ts.write_generation(ts.derive(library.load("antenna_satellite")))
    assert "V0T_1 = 0    (* deduced *)" in text and "M0Io_2 = 0    (* deduced *)" in text
    assert "MMassMax_1[1,1] = mu_1*Id" in text and "MMassMax_1[1,2]" not in text
    assert "MMassMax_2[" not in text  # the primary arm has no mass


def test_reduced_models_of_the_slider_crank() -> None:
    """C N = 0, Nᵀ M N by hand from N, and the pivot that must not vanish is the connecting rod's."""
    equations = ts.derive(library.load("slider_crank"))
    reduced = equations.without_multipliers(["theta'"])
    state = _state(equations, 5)
    n = _numbers([list(row) for row in reduced.projection], state)
    c = _numbers([list(row.row) for row in reduced.equations.constraints], state)
    np.testing.assert_allclose(c @ n, 0, atol=1e-12)
    mass = _numbers([list(row) for row in equations.mass_matrix], state)
    np.testing.assert_allclose(_numbers(reduced_mass_matrix(reduced), state), n.T @ mass @ n, rtol=1e-12)
    last = generation_steps(equations, ["theta'"])[-1]
    assert any(one.remark.meaning == "assumed not to vanish" for one in last.statements)


@pytest.mark.slow
def test_constraints_that_are_too_long_stay_blocks() -> None:
    last = generation_steps(ts.derive(library.load("whipple_bicycle")))[-1]
    assert "too many to solve" in last.account and [one.name for one in last.statements[:2]] == ["N", "direct"]


def test_the_page_folds_every_step() -> None:
    page = ts.write_generation(ts.derive(library.load("four_bar")), "html")
    assert page.count("<details") == page.count("</details>") == 9
    for form in ("latex", "mathml", "omml"):
        assert ts.write_generation(ts.derive(library.load("double_pendulum")), form)
