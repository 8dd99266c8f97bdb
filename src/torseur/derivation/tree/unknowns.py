"""Algebraic unknowns: states whose rate is in no equation, as formulas of everything else.

An equation that is linear in its unknown, or in which the unknown stands once under functions that can be inverted, is
solved by hand. Others are solved by Newton's method from the value that the description gives, at every instant anew:

    z₀ given,  z ← z - g(z)/g_z(z),  NEWTON times; not a number where the last step was no rounding

so that z is a function of the state like any formula, with derivatives of its own, and never a value that is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from torseur.algebra.graph import Expr, as_expr, dense_jacobian, live_nodes, substitute, symbols_of
from torseur.algebra.graph.scalar import absolute, exp, log, sign, sqrt, where
from torseur.derivation.tree.definitions import resolve
from torseur.derivation.tree.state_rates import blocks, by_determinants, solve_block
from torseur.description.mechanism import Mechanism
from torseur.description.mechanism.validation import constant_in
from torseur.errors import MechanismError, UnsupportedError

MANY = 3  # unknowns of one block whose equations are not linear: each step of all writes its determinants out
NEWTON = 14  # steps: quadratic convergence doubles digits four times after ten steps of approach
SETTLED = 1e-9  # part of the value that the last step may still change


def algebraic_states(mechanism: Mechanism) -> tuple[Expr, ...]:
    """The states that equations give and whose rate none of them holds."""
    open_states = [state for state in mechanism.states if state.formula is None]
    present = set(symbols_of(list(mechanism.state_equations))) if open_states else set()
    return tuple(state.symbol for state in open_states if state.rate not in present)


def solved_unknowns(mechanism: Mechanism, definitions: dict[Expr, Expr]) -> dict[Expr, Expr]:
    """The formula of every algebraic unknown, in coordinates, rates, sensors, states, time and parameters."""
    unknowns = algebraic_states(mechanism)
    if not unknowns:
        return {}
    _refuse_rates(mechanism, unknowns)
    # The rate of a state in an equation may hold the unknown itself: formulas of rates are put in first.
    moving = [state for state in mechanism.states if state.formula is not None]
    formulas = resolve(mechanism, definitions, [state.formula for state in moving if state.formula is not None])
    own = {state.rate: formula for state, formula in zip(moving, formulas, strict=True)}
    residuals = substitute(resolve(mechanism, definitions, list(mechanism.state_equations)), own)
    open_rates = {s.rate for s in mechanism.states if s.formula is None and s.symbol not in unknowns}
    rows = [row for row in residuals if not open_rates & set(symbols_of([row]))]
    if len(rows) < len(unknowns):
        names = ", ".join(str(z.name) for z in unknowns)
        raise MechanismError(f"equations of states do not determine {names}: {len(rows)} of them hold no rate.")
    starts = resolve(mechanism, definitions, [dict(mechanism.initial).get(str(z.name), as_expr(0)) for z in unknowns])
    start = dict(zip(unknowns, starts, strict=True))
    solved: dict[Expr, Expr] = {}
    for equations, columns in blocks(dense_jacobian(rows, unknowns), unknowns):
        inside = [unknowns[j] for j in columns]
        block = substitute([rows[i] for i in equations], solved)
        solved |= dict(zip(inside, _solve(mechanism, block, inside, start), strict=True))
    return solved


def _refuse_rates(mechanism: Mechanism, unknowns: Sequence[Expr]) -> None:
    """No formula may hold the rate of an unknown, which has no equation for it."""
    rates = {state.rate: state.name for state in mechanism.states if state.symbol in unknowns}
    formulas = [state.formula for state in mechanism.states if state.formula is not None]
    for rate in symbols_of(formulas):
        if rate in rates:
            raise MechanismError(f"unknown '{rates[rate]}': no equation gives its rate {rate.name}.")


def _solve(
    mechanism: Mechanism, block: Sequence[Expr], unknowns: Sequence[Expr], start: Mapping[Expr, Expr]
) -> list[Expr]:
    matrix = dense_jacobian(list(block), unknowns)
    inside = set(unknowns)
    if not any(inside & set(symbols_of([entry])) for row in matrix for entry in row):
        right = [-value for value in substitute(list(block), dict.fromkeys(unknowns, as_expr(0)))]
        return solve_block(matrix, right, unknowns)
    if len(unknowns) == 1:
        isolated = _isolate(block[0], unknowns[0], constant_in(mechanism, start[unknowns[0]]))
        if isolated is not None:
            return [isolated]
    if len(unknowns) > MANY:
        names = ", ".join(str(z.name) for z in unknowns)
        raise UnsupportedError(
            f"unknowns {names}: {len(unknowns)} equations that are not linear and hold each other are more than "
            f"{MANY}. Give one of them a rate, as its storage has: state z = ..., z' = ... ;"
        )
    return _by_newton(block, matrix, unknowns, start)


def _by_newton(
    block: Sequence[Expr], matrix: list[list[Expr]], unknowns: Sequence[Expr], start: Mapping[Expr, Expr]
) -> list[Expr]:
    steps = by_determinants(matrix, [-g for g in block])
    if steps is None:
        names = ", ".join(str(z.name) for z in unknowns)
        raise MechanismError(f"equations of states do not determine {names}: their matrix is singular.")
    # Written out NEWTON times as expressions, so that the result has derivatives like any formula; what is alike in all
    # steps, such as parameters, is computed once.
    values = [start[z] for z in unknowns]
    change: list[Expr] = []
    for _ in range(NEWTON):
        change = substitute(steps, dict(zip(unknowns, values, strict=True)))
        values = [z + step for z, step in zip(values, change, strict=True)]
    result = []
    for z, step, first in zip(values, change, (start[z] for z in unknowns), strict=True):
        size = absolute(z) + (1 if first.is_zero else absolute(first))
        left = SETTLED * size - absolute(step)
        # The root is no number where it is chosen: a motion that comes there ends, and says when.
        result.append(as_expr(where(left >= 0, z, sqrt(left))))
    return result


def _isolate(residual: Expr, unknown: Expr, start: float | None) -> Expr | None:
    """The unknown of an equation in which it stands once, by the inverse of everything around it; else None."""
    holds: dict[Expr, bool] = {}
    for node in live_nodes([residual]):
        holds[node] = node is unknown or any(holds[a] for a in node.args)
    left, right = residual, as_expr(0)
    while left is not unknown:
        inside = [a for a in left.args if holds[a]]
        if len(inside) != 1:
            return None
        (inner,) = inside
        outer = _inverse(left, inner, right, start if inner is unknown else None)
        if outer is None:
            return None
        left, right = inner, as_expr(outer)
    return right


def _inverse(node: Expr, inner: Expr, value: Expr, start: float | None) -> Expr | None:
    """x with node(x) = value, for one argument x of the node; None where that is not one number."""
    first = bool(node.args) and node.args[0] is inner
    other = node.args[1] if len(node.args) == 2 and first else node.args[0]
    if node.op == "add":
        return value - other
    if node.op == "sub":
        return value + other if first else other - value
    if node.op == "neg":
        return -value
    if node.op == "mul":
        return value / other
    if node.op == "div":
        return value * other if first else other / value
    if node.op == "sqrt":  # a root is not negative: there is no solution where it would be
        return as_expr(where(value >= 0, value * value, sqrt(value)))
    if node.op == "exp":
        return as_expr(log(value))
    if node.op == "log":
        return as_expr(exp(value))
    if node.op == "tanh":
        return as_expr(log((1 + value) / (1 - value)) / 2)
    # asinh as an odd function: ln(x + sqrt(x² + 1)) of a large negative x would be the logarithm of what cancels.
    if node.op == "sinh":
        return as_expr(sign(value) * log(absolute(value) + sqrt(value * value + 1)))
    if node.op == "pow" and first and other.is_constant:
        return _root(value, other, start)
    return None


def _root(value: Expr, exponent: Expr, start: float | None) -> Expr | None:
    """The root of an odd power, or that root of an even one on whose side the start lies."""
    number = exponent.value
    if isinstance(number, int | Fraction) and number == int(number):
        if int(number) % 2:
            return as_expr(sign(value) * absolute(value) ** (1 / as_expr(number)))
        if not start:
            return None
        return as_expr(value ** (1 / as_expr(number)) * (1 if start > 0 else -1))
    return as_expr(value ** (1 / exponent))
