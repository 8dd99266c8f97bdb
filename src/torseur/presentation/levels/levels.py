"""The equations of motion at a level of detail, as statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from torseur.algebra.graph import Expr, as_expr, live_nodes
from torseur.computation.functions import program_of
from torseur.derivation.dynamics import inverse_dynamics
from torseur.derivation.dynamics.recursion import motion_names
from torseur.derivation.equations import Equations
from torseur.derivation.equations.terms.equal_values import has_rounded_numbers, merge_equal_values
from torseur.derivation.equations.terms.polynomial import TooManyTerms
from torseur.derivation.equations.terms.short_sum import HOPELESS, written_sizes
from torseur.derivation.tree.flatten import flatten
from torseur.errors import TorseurError, unknown_name
from torseur.presentation.levels.conditions import CONDITION, FORCE_UNITS, FORMULA, assumptions, constraint_rows, legend
from torseur.presentation.levels.intermediate_remarks import Remarks, sensor_labels
from torseur.presentation.levels.statement import Remark, Statement, terms_of
from torseur.presentation.levels.term_origins import TermOrigins
from torseur.presentation.typesetting.formula_tree import Name, Node, Number, spread_sign
from torseur.presentation.typesetting.read_graph import LARGEST_WRITING, NO_NAMES, read_name, readable_form
from torseur.presentation.typesetting.recursion import Line, definitions, lines, result_line

RESIDUAL = "R_"
WORTH_A_NAME = 12  # operations of a part of a long row that is written by its name
ZERO = Number(Fraction(0))
Part = tuple[str, Sequence[Sequence[Expr]], str]


def statements(equations: Equations, level: str, steps: int = 0, hopeless: int = HOPELESS) -> list[Statement]:
    """The equations at a level; `steps` of the intrinsic one put the definitions of accelerations in.

    At the matrix and the scalar level entries of more than `hopeless` operations are broken up by names, untried.
    """
    if level not in LEVELS:
        raise TorseurError(unknown_name("level", level, LEVELS))
    if level == "intrinsic":
        from torseur.presentation.levels.intrinsic_form import intrinsic_statements

        return [*intrinsic_statements(equations.with_named_formulas, steps), *beside(equations)]
    listed = recursive_level(equations) if level == "recursive" else _BUILDERS[level](equations, hopeless)
    return [*listed, *assumptions(equations, listed), *legend(equations)]


def beside(equations: Equations, multipliers: bool = True) -> list[Statement]:
    """Constraints, rates of states, and what stands below equations in any form: meanings of names, laws, formulas."""
    named = equations.with_named_formulas
    return [
        *part_statements(named, [*_constraint_parts(named), *_state_parts(named)], HOPELESS),
        *legend(equations, multipliers),
    ]


def matrix_level(equations: Equations, hopeless: int = HOPELESS) -> list[Statement]:
    """M, b and Q; with constraints also C v' = γ, of which Cᵀ λ stands on the left of the equations of motion."""
    shared = equations.as_read
    return part_statements(shared, [*_matrix_parts(shared), *_constraint_parts(shared)], hopeless)


def _matrix_parts(equations: Equations) -> list[Part]:
    constraints = equations.constraints
    parts: list[Part] = []
    if equations.layout.speeds:
        parts = [
            ("M", equations.mass_matrix, "matrix"),
            ("b", [(entry,) for entry in equations.bias], "vector"),
            ("Q", [(entry,) for entry in equations.loads], "vector"),
        ]
    if constraints:
        parts.append(("C", [constraint.row for constraint in constraints], "table"))
        parts.append(("gamma", [(constraint.gamma,) for constraint in constraints], "vector"))
    return [*parts, *_rates(equations)]


def _constraint_parts(equations: Equations) -> list[Part]:
    return [(name, [(value,)], "scalar") for name, value, _ in constraint_rows(equations)]


def _rates(equations: Equations) -> list[Part]:
    """q' where it is not the speeds themselves, and the equations of states."""
    layout = equations.layout
    pairs = zip(layout.joint_rates, equations.rates, strict=False)
    listed: list[Part] = [(str(rate.name), [(value,)], "scalar") for rate, value in pairs if rate is not value]
    return [*listed, *_state_parts(equations)]


def _state_parts(equations: Equations) -> list[Part]:
    """Rates of states by their formulas, then the equations between several."""
    layout, coupled = equations.layout, set(equations.coupled_slots)
    slots = [k for k in range(len(layout.joint_rates), len(layout.rates)) if k not in coupled]
    own: list[Part] = [(str(layout.rates[k].name), [(equations.rates[k],)], "scalar") for k in slots]
    return [*own, *((name, [(row,)], "scalar") for name, row in coupled_rows(equations))]


def coupled_rows(equations: Equations) -> list[tuple[str, Expr]]:
    """0 = A z' - f of the states that equations share, by rows."""
    if equations.coupled_states is None:
        return []
    rates = [equations.layout.rates[slot] for slot in equations.coupled_slots]
    rows = zip(equations.coupled_states.matrix, equations.coupled_states.right, strict=True)
    return [
        (f"{CONDITION}states_{k}", sum((a * z for a, z in zip(row, rates, strict=True)), as_expr(0)) - f)
        for k, (row, f) in enumerate(rows, 1)
    ]


def scalar_level(equations: Equations, hopeless: int = HOPELESS) -> list[Statement]:
    """0 = one equation per speed, each term with its origin where terms could be added up."""
    shared = equations.as_read
    return residual_statements(shared, shared.residual, TermOrigins(shared), hopeless)


def residual_statements(
    equations: Equations, residual: Sequence[Expr], origins: TermOrigins | None = None, hopeless: int = HOPELESS
) -> list[Statement]:
    """0 = each of these rows, q' where it is not the speeds, and the constraints."""
    parts = [*_scalar_parts(equations, residual), *_constraint_parts(equations)]
    listed = part_statements(equations, parts, hopeless, names_of_parts(equations))
    # In terms of named intermediates a term has no single origin.
    if origins is None or any(one.auxiliary for one in listed):
        return listed
    count = len(residual)
    return [*(_with_origins(one, origins.of(k, residual[k])) for k, one in enumerate(listed[:count])), *listed[count:]]


def _scalar_parts(equations: Equations, residual: Sequence[Expr]) -> list[Part]:
    rows = zip(equations.layout.speed_names, residual, strict=True)
    labelled: list[Part] = [(f"{RESIDUAL}{name.rstrip(chr(39))}", [(row,)], "scalar") for name, row in rows]
    return [*labelled, *_rates(equations)]


def level_by_names(equations: Equations, level: str, hopeless: int = HOPELESS) -> tuple[list[Line], list[Statement]]:
    """The matrix or the scalar level: lines that define named intermediates, and the equations in terms of them."""
    shared = equations.as_read
    if level == "matrix":
        return _break_up(_matrix_parts(shared), hopeless)
    return _break_up(_scalar_parts(shared, shared.residual), hopeless, names_of_parts(shared))


def names_of_parts(equations: Equations) -> dict[Expr, str]:
    """M_1_2, b_1 and Q_1 for the parts that a long row is the sum of, where they are more than a few operations.

    What laws measure has the sensor's name: wheel_velocity_x.
    """
    parts = {
        entry: f"M_{i}_{j}"
        for i, row in enumerate(equations.mass_matrix, 1)
        for j, entry in enumerate(row, 1)
        if j >= i
    }
    parts |= {entry: f"b_{i}" for i, entry in enumerate(equations.bias, 1)}
    parts |= {entry: f"Q_{i}" for i, entry in enumerate(equations.loads, 1)}
    parts |= {value: name for name, (value, _) in sensor_labels(equations).items()}
    sizes = written_sizes(list(parts))
    return {entry: name for (entry, name), size in zip(parts.items(), sizes, strict=True) if size > WORTH_A_NAME}


def _with_origins(one: Statement, origins: tuple[Remark, ...]) -> Statement:
    return replace(one, origins=origins) if len(origins) == len(terms_of(one.right)) else one


def part_statements(
    equations: Equations, parts: Sequence[Part], hopeless: int = HOPELESS, labels: Mapping[Expr, str] = NO_NAMES
) -> list[Statement]:
    """Parts of equations, after the named intermediates that they need where they are long."""
    lines, results = _break_up(parts, hopeless, labels)
    remarks = row_remarks(equations)
    told = [replace(one, remark=remarks.get(one.name, one.remark)) for one in results]
    return [*definition_statements(equations, lines), *told]


def row_remarks(equations: Equations) -> dict[str, Remark]:
    """What the rows are, in which unit: forces along the speeds, constraints and their rates."""
    along = {}
    for speed in equations.layout.speeds:
        name = str(speed.name).rstrip("'")
        along[f"{RESIDUAL}{name}"] = Remark(f"along {name}", FORCE_UNITS.get(speed.data.unit, ""))
    forces = Remark("; ".join(remark.text for remark in along.values()))
    of_constraints = Remark("; ".join(constraint.name for constraint in equations.constraints))
    parts = {"b": forces, "Q": forces, "gamma": of_constraints}
    rates = ", ".join(str(equations.layout.rates[slot].name) for slot in equations.coupled_slots)
    shared = {name: Remark(f"one of the equations that determine {rates}") for name, _ in coupled_rows(equations)}
    return parts | along | shared | {name: remark for name, _, remark in constraint_rows(equations)}


def _break_up(
    parts: Sequence[Part], hopeless: int, labels: Mapping[Expr, str] = NO_NAMES
) -> tuple[list[Line], list[Statement]]:
    """Readable entries; those that are long in any writing are broken up by named intermediates."""
    entries = [entry for _, rows, _ in parts for row in rows for entry in row]
    # All entries are measured in one walk: those of M share most of their nodes.
    sizes = zip(entries, written_sizes(entries), strict=True)
    hopeful = [entry for entry, size in sizes if size <= max(hopeless, LARGEST_WRITING)]
    clean = merge_equal_values(hopeful) if has_rounded_numbers(hopeful) else hopeful
    pairs = zip(hopeful, clean, strict=True)
    short = {entry: node for entry, value in pairs if (node := _short(value, hopeless)) is not None}
    long = list(dict.fromkeys(entry for entry in entries if entry not in short))
    # No name for what is zero, and no two names for one value.
    labelled = list(labels) if long else []
    merged = merge_equal_values([*long, *labelled])
    names = dict(zip(merged[len(long) :][::-1], list(labels.values())[::-1], strict=True)) if labelled else {}
    listed, nodes = definitions(merged[: len(long)], labels={node: name for node, name in names.items() if node.args})
    written_as = {**short, **dict(zip(long, nodes, strict=True))}
    results = []
    for name, rows, shape in parts:
        given = tuple(tuple(row) for row in rows)
        left = (
            ZERO
            if name.startswith((RESIDUAL, CONDITION))
            else read_name(name)
            if shape == "scalar"
            else Name(name, bold=True)
        )
        nodes_of_rows = tuple(tuple(written_as[e] for e in row) for row in given)
        if left is ZERO:
            nodes_of_rows = ((spread_sign(nodes_of_rows[0][0]),),)
        results.append(Statement(name, left, nodes_of_rows, shape, given))
    return listed, results


def definition_statements(equations: Equations, listed: Sequence[Line]) -> list[Statement]:
    """The lines that define named intermediates, each with what it is."""
    remarks = Remarks(equations)
    return [
        Statement(line.name, line.left, ((line.right,),), "scalar", auxiliary=True, remark=remarks.of(line))
        for line in listed
    ]


def _short(entry: Expr, hopeless: int) -> Node | None:
    try:
        return readable_form(entry, hopeless=hopeless)
    except TooManyTerms:
        return None


def size_note(listed: Sequence[Statement], named_ones: int = 0) -> str:
    """How long the equations are where they had to be broken up by intermediates; otherwise empty.

    `named_ones` are intermediates beside those that are listed.
    """
    named_ones += sum(1 for s in listed if s.auxiliary and s.shape == "scalar")
    results = [
        s for s in listed if not s.auxiliary and s.shape != "name" and not s.name.startswith((CONDITION, FORMULA))
    ]
    if not named_ones or not any(s.expressions for s in results):
        return ""
    entries = [e for s in results for row in s.expressions for e in row]
    operations = sum(1 for node in live_nodes(entries) if node.args)
    written_out = sum(written_sizes(entries))
    return (
        f"too long to be multiplied out: {len(results)} equations with {named_ones} named intermediates, "
        f"{operations} operations; without the names they would have {written_out:,}."
    )


def recursive_level(equations: Equations) -> list[Statement]:
    """The recursion's intermediates in the order they are computed, then the forces, then the constraints."""
    shared = equations.with_named_formulas
    rows = constraint_rows(shared)
    short = {value: node for _, value, _ in rows if (node := _short(value, HOPELESS)) is not None}
    long = list(dict.fromkeys(value for _, value, _ in rows if value not in short))
    listed, nodes = _recursion(shared, long)
    results = recursive_results(shared, listed)
    written = short | dict(zip(long, nodes, strict=True))
    closed = [
        Statement(name, ZERO, ((spread_sign(written[value]),),), "scalar", ((value,),), remark=said)
        for name, value, said in rows
    ]
    states = part_statements(shared, _state_parts(shared), HOPELESS)
    return [*definition_statements(shared, listed[: len(listed) - len(results)]), *results, *closed, *states]


def recursive_results(equations: Equations, listed: Sequence[Line]) -> list[Statement]:
    """The forces, which are the last lines of the recursion."""
    forces = []
    speeds = equations.layout.speeds
    for line, speed in zip(listed[len(listed) - len(speeds) :], speeds, strict=True):
        along = str(speed.name).rstrip("'")
        remark = Remark(f"generalised force along {along}", FORCE_UNITS.get(speed.data.unit, ""))
        forces.append(Statement(line.name, line.left, ((line.right,),), "scalar", remark=remark))
    return forces


def recursive_lines(equations: Equations) -> list[Line]:
    """Inverse dynamics line by line; the forces come last, those beyond the constraints' where there are any."""
    return _recursion(equations)[0]


def _moves_by_functions(equations: Equations) -> bool:
    """Whether functions without a formula move joints: programs take those of loads as inputs, and no others."""
    leaves = [leaf for link in equations.tree.links for leaf in flatten(link.motion) if isinstance(leaf, Expr)]
    return any(node.op == "apply" for node in live_nodes(leaves))


def _recursion(equations: Equations, others: Sequence[Expr] = ()) -> tuple[list[Line], list[Node]]:
    """The lines of inverse dynamics, and other expressions in terms of them."""
    names = [f"tau_{name.rstrip(chr(39))}" for name in equations.layout.speed_names]
    if not equations.is_constrained and not _moves_by_functions(equations):
        program = program_of(equations, ["inverse_dynamics"])
        return lines(program.with_labels(motion_names(equations.tree)), {"tau": names}), []
    layout = equations.layout
    # With constraints the recursion gives what the joints of the tree would need, τ = ID(q, v, v'); the loads and
    # Cᵀ λ, which the constraints carry, are taken off: τ - Q + Cᵀ λ is what is left to the user, 0 without a motor.
    forces = inverse_dynamics(equations.tree, layout.coordinates, layout.speeds, layout.accelerations)
    pairs = list(zip(equations.constraints, equations.multipliers, strict=True))
    entries = [
        as_expr(force) - load + sum((c.row[k] * multiplier for c, multiplier in pairs), as_expr(0))
        for k, (force, load) in enumerate(zip(forces, equations.loads, strict=True))
    ]
    labels = {node: name for name, (node, *_) in [*motion_names(equations.tree).items()][::-1]}
    listed, nodes = definitions([*entries, *others], labels=labels)
    results = zip(names, nodes, entries, strict=False)
    return listed + [result_line(name, node, entry) for name, node, entry in results], nodes[len(entries) :]


LEVELS = ("intrinsic", "recursive", "matrix", "scalar")
_BUILDERS: dict[str, Callable[[Equations, int], list[Statement]]] = {"matrix": matrix_level, "scalar": scalar_level}
