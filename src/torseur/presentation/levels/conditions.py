"""What stands beside the equations of motion at every level: constraints, their multipliers, open force laws."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from torseur.algebra.graph import Expr, as_expr
from torseur.derivation.equations import Equations
from torseur.derivation.equations.equations import multiplier_display_name
from torseur.derivation.loops import ConstraintEquation
from torseur.description.mechanism.quantities import per_second
from torseur.presentation.levels.statement import Remark, Statement
from torseur.presentation.typesetting.formula_tree import Name, Node, Number
from torseur.presentation.typesetting.read_graph import literal_form, readable_or_literal_form

CONDITION = "Phi_"
ZERO = Number(Fraction(0))
# A multiplier times the derivative of its residual is a generalised force, so its unit follows from the residual's.
_MULTIPLIER_UNITS = {"m": "N", "rad": "N*m", "m/s": "N", "rad/s": "N*m"}


def conditions(equations: Equations) -> list[Statement]:
    """The constraints and their rates, what their multipliers are, and the force laws that were left open."""
    constraints = equations.constraints
    closed = [one for constraint in constraints for one in _constraint(constraint, equations.layout.speeds)]
    return [*closed, *map(_multiplier, constraints), *map(_open_law, _open_laws(equations))]


def _constraint(constraint: ConstraintEquation, speeds: Sequence[Expr]) -> list[Statement]:
    """0 = Φ and 0 = Φ' of a holonomic constraint, the second alone of one between speeds."""
    rate = sum((entry * speed for entry, speed in zip(constraint.row, speeds, strict=True)), constraint.drift)
    name = f"{CONDITION}{_display_name(constraint)}"
    if not constraint.is_holonomic:
        return [_zero(f"{name}'", rate, constraint.name, constraint.unit)]
    position = _zero(name, constraint.residual, constraint.name, constraint.unit)
    return [position, _zero(f"{name}'", rate, "its rate", per_second(constraint.unit))]


def _zero(name: str, residual: Expr, meaning: str, unit: str) -> Statement:
    # The residual of an equation of the user has the unit that the user gave it, which is not known here.
    known = unit if unit not in ("1", "1/s") else ""
    value = as_expr(residual)
    node = readable_or_literal_form(value)
    return Statement(name, ZERO, ((node,),), "scalar", ((value,),), remark=Remark(meaning, known))


def _display_name(constraint: ConstraintEquation) -> str:
    return (multiplier_display_name(f"lambda.{constraint.name}") or constraint.name).removeprefix("lambda_")


def _multiplier(constraint: ConstraintEquation) -> Statement:
    """What a multiplier is; its sign is that of M v' + b + Cᵀ λ = Q."""
    shown = f"lambda_{_display_name(constraint)}"
    meaning = f"multiplier: minus the force of {constraint.name}"
    return _named(Name(shown), meaning, _MULTIPLIER_UNITS.get(constraint.unit, ""))


def _open_laws(equations: Equations) -> list[Expr]:
    """Each undetermined function once; its derivatives belong to it."""
    by_name = {node.data.function.name: node for node in equations.undetermined if not any(node.data.orders)}
    return list(by_name.values())


def _open_law(node: Expr) -> Statement:
    function = node.data.function
    meaning = f"{function.meaning or 'force law'}, left open"
    return _named(literal_form(node), meaning, function.unit if function.unit != "1" else "")


def _named(left: Node, meaning: str, unit: str) -> Statement:
    return Statement("", left, ((left,),), "name", remark=Remark(meaning, unit))
