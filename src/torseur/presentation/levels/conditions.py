"""What stands beside the equations of motion at every level: constraints, multipliers, laws, named formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from torseur.algebra.graph import Expr, as_expr, live_nodes
from torseur.derivation.equations import Equations
from torseur.derivation.equations.multipliers import multiplier_display_name
from torseur.derivation.equations.named_formulas import named_laws, named_parameters, unknown_equations
from torseur.derivation.loops import ConstraintEquation
from torseur.derivation.tree.flatten import flatten
from torseur.derivation.tree.unknowns import algebraic_states
from torseur.description.mechanism import Bound, Contact, Equation, Law, Parameter, Switching, Update
from torseur.description.mechanism.quantities import per_second
from torseur.errors import counted
from torseur.presentation.levels.statement import Remark, Statement
from torseur.presentation.typesetting.formula_tree import (
    Call,
    Name,
    Node,
    Number,
    Power,
    Product,
    children,
    names_in,
    reciprocal,
)
from torseur.presentation.typesetting.read_graph import literal_form, read_name

CONDITION, FORMULA = "Phi_", "formula_"
NOT_ZERO, POSITIVE = "assumed not to vanish", "assumed positive"
ZERO = Number(Fraction(0))
FORCE_UNITS = {"m/s": "N", "rad/s": "N*m"}
# A multiplier times the derivative of its residual is a generalised force, so its unit follows from the residual's.
_MULTIPLIER_UNITS = {"m": "N", "rad": "N*m", "m/s": "N", "rad/s": "N*m", "m^2": "N/m", "m^2/s": "N/m"}
_TIMES = {1: "once", 2: "twice"}


def constraint_rows(equations: Equations) -> list[tuple[str, Expr, Remark]]:
    """0 = Φ and 0 = Φ' of every holonomic constraint, the second alone of one between speeds: name, value, remark."""
    units = _units_of_users(equations)
    return [row for constraint in equations.constraints for row in _rows(constraint, equations.layout.speeds, units)]


def _units_of_users(equations: Equations) -> dict[str, str]:
    """The units of equations of the user, by the names of their rows."""
    given = [c for c in equations.mechanism.constraints if isinstance(c, Equation)]
    return {f"constraint '{c.name}'": c.unit for c in given}


def _rows(
    constraint: ConstraintEquation, speeds: Sequence[Expr], units: Mapping[str, str]
) -> list[tuple[str, Expr, Remark]]:
    rate = sum((entry * speed for entry, speed in zip(constraint.row, speeds, strict=True)), constraint.drift)
    name = f"{CONDITION}{_display_name(constraint)}"
    unit = _unit(constraint, units)
    if not constraint.is_holonomic:
        return [(f"{name}'", as_expr(rate), Remark(constraint.name, unit))]
    return [
        (name, constraint.residual, Remark(constraint.name, unit)),
        (f"{name}'", as_expr(rate), Remark("its rate", per_second(unit) if unit else "")),
    ]


def _unit(constraint: ConstraintEquation, units: Mapping[str, str]) -> str:
    """The unit of a residual; that of an equation between numbers, which angles are too, is left out."""
    return units.get(constraint.name, constraint.unit)


def legend(equations: Equations, multipliers: bool = True) -> list[Statement]:
    """What the multipliers are, the formulas of laws and parameters that have names, and the laws left open."""
    units = _units_of_users(equations)
    shown = equations.in_axes_to_read.constraints if multipliers else ()
    meanings = [_multiplier(constraint, units) for constraint in shown]
    beside = [*_unit_quaternions(equations), *meanings, *_formulas(equations), *_unknowns(equations)]
    return [*beside, *map(_switching, equations.mechanism.contacts)]


def _unit_quaternions(equations: Equations) -> list[Statement]:
    """0 = 1 - e0² - e1² - e2² - e3², which holds in every motion and was used."""
    links = [link for link in equations.tree.links if link.symbols.quaternion]
    return [
        _formula(
            f"quaternion {link.joint.name}",
            literal_form(as_expr(0)),
            as_expr(1) - sum((e * e for e in link.symbols.quaternion), as_expr(0)),
            Remark(f"unit quaternion of joint '{link.joint.name}'", ""),
        )
        for link in links
    ]


def _unknowns(equations: Equations) -> list[Statement]:
    """0 = g of algebraic unknowns, which stand by name in the equations."""
    mechanism = equations.mechanism
    names = ", ".join(str(z.name) for z in algebraic_states(mechanism))
    return [
        _formula(f"unknown {k}", literal_form(as_expr(0)), equation, Remark(f"determines {names}", ""))
        for k, equation in enumerate(unknown_equations(mechanism))
    ]


def _switching(element: Switching) -> Statement:
    """What a motion has besides these equations: they hold between the switches of such elements."""
    what = what_switches(element)
    return _named(Name(element.name), f"{what}: acts in motions besides these equations", "")


def what_switches(element: Switching) -> str:
    """A bound, dry friction or a contact, in words."""
    if isinstance(element, Bound):
        return f"bound {element.gap} >= 0, restitution {element.restitution}"
    if isinstance(element, Update):
        values = ", ".join(f"{x.name} = {value}" for x, value in zip(element.targets, element.values, strict=True))
        clock = f"every {element.period} s" if element.condition is None else f"when {element.condition} > 0"
        return f"update {clock}: {values}"
    if isinstance(element, Contact):
        return f"contact of a {element.shape}, friction {element.coefficient}, restitution {element.restitution}"
    return f"dry friction up to {element.force}" + (f" + {element.coefficient} N" if element.on else "")


def _display_name(constraint: ConstraintEquation) -> str:
    return (multiplier_display_name(f"lambda.{constraint.name}") or constraint.name).removeprefix("lambda_")


def _multiplier(constraint: ConstraintEquation, units: Mapping[str, str]) -> Statement:
    """What a multiplier is; its sign is that of M v' + b + Cᵀ λ = Q."""
    shown = f"lambda_{_display_name(constraint)}"
    meaning = f"multiplier: minus the force of {constraint.name}"
    return _named(Name(shown), meaning, _MULTIPLIER_UNITS.get(_unit(constraint, units), ""))


def _formulas(equations: Equations) -> list[Statement]:
    """Every function and named formula that occurs, with its definition."""
    mechanism = equations.mechanism
    named = {law.name: law for law in named_laws(mechanism)}
    parameters = {p.symbol: p for p in named_parameters(mechanism)}
    if not parameters and not _has_functions(
        [mechanism.loads, mechanism.joints, mechanism.constraints, mechanism.laws]
    ):
        return []
    functions: dict[str, Expr] = {}
    symbols: set[Expr] = set()
    waiting = list(equations.as_read.formulas)
    while waiting:
        nodes = list(live_nodes(waiting))
        calls = {_label(n): n for n in nodes if n.op in ("apply", "table") and _label(n) not in functions}
        present = {n for n in nodes if n.op == "symbol"}
        new = [s for s in parameters if s in present and s not in symbols]
        functions |= calls
        symbols |= set(new)
        called = {n.data.function.name for n in calls.values() if n.op == "apply"}
        waiting = [named[name].formula for name in sorted(called & named.keys())]
        waiting += [value for s in new if (value := parameters[s].value) is not None]
    laws = [_law(law) for law in named.values() if any(_belongs(node, law.name) for node in functions.values())]
    given = [_parameter(parameters[s]) for s in parameters if s in symbols]
    others = [_function(functions[label]) for label in sorted(functions) if not _is_law(functions[label], named)]
    return [*given, *laws, *others]


def _has_functions(things: Sequence[object]) -> bool:
    leaves = [leaf for leaf in flatten(things) if isinstance(leaf, Expr)]
    return any(node.op in ("apply", "table") for node in live_nodes(leaves))


def _label(node: Expr) -> str:
    return str(node.data.name)


def _belongs(node: Expr, law: str) -> bool:
    return node.op == "apply" and bool(node.data.function.name == law)


def _is_law(node: Expr, named: dict[str, Law]) -> bool:
    return node.op == "apply" and node.data.function.name in named and not any(node.data.orders)


def _law(law: Law) -> Statement:
    left = Call(law.name, tuple(read_name(str(argument.name)) for argument in law.arguments))
    return _formula(law.name, left, law.formula, Remark(law.function.meaning or "law", law.function.unit))


def _parameter(parameter: Parameter) -> Statement:
    remark = Remark(parameter.meaning or "parameter", parameter.symbol.data.unit)
    return _formula(parameter.name, read_name(parameter.name), as_expr(parameter.value), remark)


def _formula(name: str, left: Node, value: Expr, remark: Remark) -> Statement:
    written = literal_form(value)  # as the user wrote it
    return Statement(f"{FORMULA}{name}", left, ((written,),), "scalar", ((value,),), remark=remark)


def _function(node: Expr) -> Statement:
    """A table, a law left open, or a derivative of a law."""
    left = literal_form(node) if all(not a.args for a in node.args) else Name(_label(node))
    if node.op == "table":
        table, order = node.data.table, node.data.order
        if order:
            return _named(left, f"derivative of {table.name}{f', {order} times' if order > 1 else ''}", "")
        return _named(left, f"table of {counted(len(table.points), 'point')}", table.unit)
    function, orders = node.data.function, node.data.orders
    if any(orders):
        by = [f"{_TIMES.get(n, f'{n} times')} by argument {k}" for k, n in enumerate(orders, 1) if n]
        return _named(left, f"derivative of {function.name}, {' and '.join(by)}", "")
    return _named(left, f"{function.meaning or 'law'}, left open", function.unit)


def _named(left: Node, meaning: str, unit: str) -> Statement:
    return Statement("", left, ((left,),), "name", remark=Remark(meaning, unit if unit != "1" else ""))


_DOMAINS = {"sqrt": POSITIVE, "log": POSITIVE, "asin": "assumed between -1 and 1",
            "acos": "assumed between -1 and 1"}  # fmt: skip


def assumptions(equations: Equations, listed: Sequence[Statement]) -> list[Statement]:
    """What written formulas divide by, and where their functions have values: they hold where this is so.

    A parameter or a number below a bar says itself that it is not zero.
    """
    plain = {read_name(str(x.name)).text for x in equations.layout.parameters}
    said = dict[tuple[Node, str], None]()
    for one in listed:
        for node in (one.left, *(entry for row in one.rows for entry in row)):
            _assume(node, plain, said)
    known = {(one.left, one.remark.meaning) for one in listed}
    known |= {(node, NOT_ZERO) for node, meaning in said if meaning == POSITIVE}
    return [_named(node, meaning, "") for node, meaning in said if (node, meaning) not in known]


def _assume(node: Node, plain: set[str], said: dict[tuple[Node, str], None]) -> None:
    for part in children(node):
        _assume(part, plain, said)
    if isinstance(node, Call) and node.function in _DOMAINS:
        said[node.arguments[0], _DOMAINS[node.function]] = None
    elif isinstance(node, Call) and node.function == "atan2":
        said[node, "its arguments assumed not both to vanish"] = None
    if not isinstance(node, Power) or reciprocal(node) is None:
        return
    for base in node.base.factors if isinstance(node.base, Product) else (node.base,):
        below = base.base if isinstance(base, Power) else base
        if isinstance(below, Call) and below.function in ("abs", "sqrt"):
            below = below.arguments[0]
        if names_in(below) and not (isinstance(below, Name) and below.text in plain):
            said[below, NOT_ZERO] = None
