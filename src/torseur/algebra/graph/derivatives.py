"""Exact derivatives of expressions: forward (along directions), reverse (gradients), sparse Jacobians.

Both sweeps visit each node once, in the order of `live_nodes`, so no recursion limit is ever met and the cost
is a small multiple of the cost of the expression itself. A branch that a `where` does not choose contributes
nothing, even where its own derivative is undefined.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torseur.algebra.graph import scalar as s
from torseur.algebra.graph.evaluation import evaluate, live_nodes
from torseur.algebra.graph.expr import ONE, ZERO, Expr, as_expr, intern, symbol
from torseur.algebra.graph.functions import Application, TableLookup
from torseur.algebra.graph.operations import OPERATIONS
from torseur.errors import TorseurError


def partials(node: Expr) -> tuple[Any, ...]:
    """The derivative of a node by each of its arguments."""
    if node.op == "apply":
        return tuple(intern("apply", node.args, node.data.partial(i)) for i in range(len(node.args)))
    if node.op == "table":
        return (_table_derivative(node),)
    return OPERATIONS[node.op].partials(node)


def _table_derivative(node: Expr) -> Expr:
    lookup: TableLookup = node.data
    if lookup.order == lookup.table.degree:
        return ZERO
    return intern("table", node.args, TableLookup(lookup.table, lookup.order + 1))


def _times(partial: Any, change: Expr) -> Expr:
    """The product of the chain rule, with a choice kept outside: 0 times an undefined derivative is 0."""
    for choice, factor in ((partial, change), (change, partial)):
        # where(c, a, 0) * b is 0 * inf = nan where b is undefined beside the choice; where(c, a * b, 0) is 0.
        if choice.__class__ is Expr and choice.op == "where" and ZERO in choice.args[1:]:
            condition, a, b = choice.args
            return as_expr(s.where(condition, _times(a, factor), _times(b, factor)))
    return change * partial


def directional_derivative(outputs: Sequence[Expr], direction: Mapping[Expr, Any]) -> list[Expr]:
    """d outputs when the given nodes change by their entry in `direction` (forward mode)."""
    # One tangent per node, ẏ = Σ ∂y/∂x ẋ (Griewank and Walther, Evaluating Derivatives, 2008, chapter 3): the cost is
    # that of the expression times a small constant, for any number of nodes in the direction.
    tangents = {node: as_expr(tangent) for node, tangent in direction.items()}
    for node in live_nodes(outputs, direction):
        if node.args and node not in tangents:
            tangent = _forward(node, tangents)
            # A node that is not in `tangents` stands still: whole branches are then passed over without a product.
            if tangent is not ZERO:
                tangents[node] = tangent
    return [tangents.get(output, ZERO) for output in outputs]


def _forward(node: Expr, tangents: dict[Expr, Expr]) -> Expr:
    moving = [tangents.get(argument) for argument in node.args]
    if not any(moving_argument is not None for moving_argument in moving):
        return ZERO
    total = ZERO
    for tangent, partial in zip(moving, partials(node), strict=True):
        if tangent is not None:
            total = total + _times(partial, tangent)
    return total


def gradient(output: Expr, variables: Sequence[Expr]) -> list[Expr]:
    """d output / d variables (reverse mode)."""
    return weighted_gradient([output], [1], variables)


def weighted_gradient(outputs: Sequence[Expr], weights: Sequence[Any], variables: Sequence[Expr]) -> list[Expr]:
    """d (weights · outputs) / d variables in one reverse sweep."""
    # x̄ += ȳ ∂y/∂x for every use y of x: one sweep for any number of variables, where forward mode takes one each.
    adjoint: dict[Expr, Expr] = defaultdict(lambda: ZERO)
    for output, weight in zip(outputs, weights, strict=True):
        adjoint[output] = adjoint[output] + weight
    wanted = set(variables)
    dependent = _dependent_nodes(outputs, wanted)
    # Reversed order of evaluation: when a node is reached, everything that uses it has added to its adjoint.
    for node in reversed(dependent):
        bar = adjoint[node]
        # A variable need not be a leaf: what it was computed from is beyond what was asked.
        if bar is ZERO or node in wanted:
            continue
        for argument, partial in zip(node.args, partials(node), strict=True):
            # Products with adjoints that no variable asks for would be made and thrown away.
            if argument in dependent:
                adjoint[argument] = adjoint[argument] + _times(partial, bar)
    return [adjoint[variable] for variable in variables]


def _dependent_nodes(outputs: Sequence[Expr], variables: set[Expr]) -> dict[Expr, None]:
    """The nodes between outputs and variables, in order of evaluation: those that depend on a variable."""
    dependent: dict[Expr, None] = {}
    for node in live_nodes(outputs, variables):
        if node in variables or any(argument in dependent for argument in node.args):
            dependent[node] = None
    return dependent


def jacobian(outputs: Sequence[Expr], variables: Sequence[Expr]) -> dict[tuple[int, int], Expr]:
    """Sparse d outputs[i] / d variables[j]: only entries that are not identically zero.

    One forward sweep carries, for every node, the derivatives by the variables it depends on, so an entry
    costs only the operations between its own variable and output.
    """
    # Rows instead of one sweep per variable: Jacobians of mechanisms are sparse, and so are the rows of most of their
    # nodes.
    rows: dict[Expr, dict[int, Expr]] = {variable: {} for variable in variables}
    for j, variable in enumerate(variables):
        rows[variable][j] = ONE
    for node in live_nodes(outputs, variables):
        if node.args and node not in rows:
            row = _jacobian_row(node, rows)
            if row:
                rows[node] = row
    return {(i, j): entry for i, output in enumerate(outputs) for j, entry in rows.get(output, {}).items()}


def _jacobian_row(node: Expr, rows: dict[Expr, dict[int, Expr]]) -> dict[int, Expr]:
    if not any(argument in rows for argument in node.args):
        return {}
    total: dict[int, Expr] = {}
    for argument, partial in zip(node.args, partials(node), strict=True):
        for j, entry in rows.get(argument, {}).items():
            term = _times(partial, entry)
            total[j] = total[j] + term if j in total else term
    # Terms may have cancelled: only what is not zero is handed on, so that zeros do not spread through the nodes above.
    return {j: entry for j, entry in total.items() if entry is not ZERO}


def dense_jacobian(outputs: Sequence[Expr], variables: Sequence[Expr]) -> list[list[Expr]]:
    """The Jacobian as rows with zeros filled in."""
    sparse = jacobian(outputs, variables)
    return [[sparse.get((i, j), ZERO) for j in range(len(variables))] for i in range(len(outputs))]


def time_derivative(outputs: Sequence[Expr], rates: Mapping[Expr, Any], time: Expr | None = None) -> list[Expr]:
    """d outputs / dt when each state has the given rate and time itself runs at rate 1."""
    direction = dict(rates)
    if time is not None:
        direction[time] = 1
    return directional_derivative(outputs, direction)


def derivative_of_law(law: Callable[..., Any], application: Application) -> Callable[..., Any]:
    """The law of a partial derivative of a function, from the law of the function itself."""
    arguments = [symbol(f"argument {i + 1}") for i in range(application.function.arity)]
    try:
        # A law is a Python function: called with symbols it writes itself down as an expression.
        formula = as_expr(law(*arguments))
    except (TypeError, TorseurError) as error:
        name = application.name
        raise TorseurError(
            f"the law of '{application.function.name}' cannot be differentiated ({error}). "
            f"Write it with torseur.algebra.graph.scalar, or give its derivative too: laws={{'{name}': ...}}."
        ) from error
    for argument, order in zip(arguments, application.orders, strict=True):
        for _ in range(order):
            (formula,) = gradient(formula, [argument])
    return lambda *values: evaluate([formula], dict(zip(arguments, values, strict=True)))[0]
