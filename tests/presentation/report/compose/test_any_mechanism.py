"""Any mechanism has an account, a page and equations taken apart; parts are compared with the whole."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings

import strategies
import torseur as ts
from torseur.algebra.graph import evaluate, symbols_of
from torseur.derivation.equations.terms.origins import Shares
from torseur.errors import TorseurError
from torseur.presentation.report.compose.account import account
from torseur.presentation.report.compose.compose_report import compose
from torseur.presentation.report.page.report_page import render

FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.mark.slow
@FEW
@given(strategies.mechanisms(max_bodies=4))
def test_any_mechanism_has_a_page(mechanism):
    found = account(mechanism)
    assert len(found.bodies) == len(mechanism.bodies)
    page = render(compose(mechanism, ts.derive(mechanism)))
    assert page.startswith("<!doctype html>")


@pytest.mark.slow
@FEW
@given(strategies.mechanisms(max_bodies=4))
def test_any_equations_are_the_sum_of_their_shares(mechanism):
    """Oracle: M v' + b - Q of the whole."""
    equations = ts.derive(mechanism)
    rows = [row for share in Shares(equations).all for row in share.rows]
    whole = list(equations.residual)
    source = random.Random(1)
    values = {symbol: source.uniform(0.2, 0.9) for symbol in symbols_of([*rows, *whole])}
    functions = {node.data.function.name: lambda *given: 0.5 for node in equations.undetermined}
    try:
        expected, parts = evaluate(whole, values, functions), evaluate(rows, values, functions)
    except TorseurError:
        return  # a spring of no length or a pole of angles at this state
    n = len(expected)
    sums = [sum(float(part) for part in parts[i::n]) for i in range(n)]
    scale = max((abs(float(part)) for part in parts), default=1.0)
    assert sums == pytest.approx([float(e) for e in expected], rel=1e-8, abs=1e-9 * max(1.0, scale))
