"""Cards of what stands behind the equations: a formalism's steps, and the equations without multipliers."""

from __future__ import annotations

import torseur as ts
from presentation.studio.answering import all_of
from torseur.description import library
from torseur.presentation.report.compose.equation_cards import Blocks
from torseur.presentation.studio.answers.describe_text import describe
from torseur.presentation.studio.messages import Request

ATWOOD = """mechanism atwood ;
param g = 9.81 m/s^2, m1 = 2 kg, m2 = 1 kg, R = 0.1 m, J = 0.01 kg*m^2 ;
gravity = [0, -g, 0] ;
let pulley = body mass = 0, inertia = diag(0, 0, J) end ;
let left = body mass = m1, centre = 0, inertia = 0 end ;
let right = body mass = m2, centre = 0, inertia = 0 end ;
join earth and pulley.frame as axle with revolute(theta) about [0, 0, 1] end ;
join [-R, 0, 0] @ earth and left.frame as rope1 with prismatic(x) along [0, -1, 0] end ;
join [R, 0, 0] @ earth and right.frame as rope2 with prismatic(y) along [0, -1, 0] end ;
constrain x = R*theta as winding ;
constrain y = -R*theta as unwinding ;
"""


def cards(mechanism, formalism: str) -> dict:
    source = ts.derive(mechanism, formalism)
    return {card.title: card for card in Blocks(source.as_read, None, source=source).further()}


def text(equation) -> str:
    terms = [f"{'-' if term.formula.negative else ''}{term.formula.text}" for term in equation.terms]
    return f"{equation.left.text} = {' + '.join(terms)}"


def test_multipliers_of_atwoods_machine_are_eliminated_on_a_card():
    """Oracle: (J + (m1 + m2) R²) θ'' = (m1 - m2) g R, with x' = R θ' and y' = -R θ'."""
    card = cards(ts.parse(ATWOOD), "recursive")["Without multipliers"]
    shown = [text(one) for one in card.equations]
    assert not card.is_open and card.subtitle == "1 equation"
    assert shown == ["0 = (J + (m1 + m2)*R^2)*theta'' + (m2 - m1)*g*R", "x' = R*theta'", "y' = -R*theta'"]


def test_steps_of_lagrange_stand_in_their_order():
    """Oracle: the order of the method, and T of the pendulum."""
    card = cards(library.load("pendulum"), "lagrange")["Derivation"]
    titles = [one.title for one in card.equations if one.title]
    assert titles[:4] == ["Kinetic energy", "Potential energy", "Lagrangian", "Momenta"] and not card.is_open
    assert text(card.equations[0]) == "T = 1/2*m*l^2*theta'^2"
    assert "Lagrange" in card.subtitle and "--formalism lagrange" in card.introduction


def test_what_is_beyond_reading_has_no_card():
    assert "Without multipliers" not in cards(library.load("pendulum"), "recursive")
    assert not cards(library.load("stewart_platform"), "recursive")


def test_a_pendulum_has_its_generation_and_its_sensitivity_systems():
    """Oracle: m l² u'' + m g l cos(θ) u + ... = 0 in θ'' = -(g/l) sin θ, and λ2' = -λ1 with λ1' = (g/l) cos(θ) m l² λ2."""
    shown = cards(library.load("pendulum"), "recursive")
    generation = [text(one) for one in shown["Generation"].equations]
    assert "N = 1" in generation and any(line.startswith("MMassMax = [") for line in generation)
    direct = [text(one) for one in shown["Sensitivity, direct"].equations]
    assert direct[0] == "0 = m*l^2*u_theta'' + m*g*l*cos(theta)*u_theta + h_2"
    titles = [one.title for one in shown["Sensitivity, adjoint"].equations if one.title]
    assert titles == ["Backwards in time", "At the end", "Derivatives of the criterion"]
    adjoint = [text(one) for one in shown["Sensitivity, adjoint"].equations]
    assert adjoint[:2] == ["0 = lambda_1' + -m*g*l*cos(theta)*lambda_2", "0 = m*l^2*lambda_2' + lambda_1"]


def test_the_studio_shows_the_equations_first_and_then_what_stands_behind_them():
    messages = all_of(describe(Request("describe", 1, ATWOOD, level="scalar"), None))
    answers = [one for one in messages if one["kind"] == "equations"]
    first, last = answers[0]["html"], answers[-1]["html"]
    assert "Without multipliers" not in first and "Without multipliers" in last
