"""Simplified equations as statements: grouped parameters, Horner's form, what was neglected, small motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torseur.algebra.graph import Expr
from torseur.algebra.graph import scalar as s
from torseur.derivation.equations import Equations
from torseur.derivation.equations.linear_equations import LinearEquations
from torseur.derivation.equations.simplification import Change, Piece, group_parameters, horner
from torseur.derivation.equations.terms.short_sum import few_terms
from torseur.errors import TorseurError, UnsupportedError, unknown_name
from torseur.presentation.levels.conditions import assumptions
from torseur.presentation.levels.forms.collected_form import times
from torseur.presentation.levels.forms.reduced_form import assumed_not_to_vanish
from torseur.presentation.levels.levels import RESIDUAL, ZERO, Part, part_statements, row_remarks
from torseur.presentation.levels.statement import Remark, Statement
from torseur.presentation.typesetting.formula_tree import Node, Sum
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.read_graph import (
    factored_form,
    literal_form,
    read_name,
    readable_or_literal_form,
    term,
)

MOST_TERMS = 400
MOST_IN_A_ROW = 20  # terms of an equation of small motions, above which long coefficients have names
WORTH_A_NAME = 3  # terms of a coefficient without a name


def grouped_statements(equations: Equations, rows: Sequence[Expr]) -> list[Statement]:
    """The rows in grouped parameters, the definitions of these first."""
    polynomials = [few_terms(row, MOST_TERMS) for row in rows]
    groups = group_parameters(polynomials, equations.layout.parameters)
    listed = [
        Statement(str(name.name), read_name(str(name.name)), ((factored_form(meaning),),), "scalar", auxiliary=True,
                  remark=Remark("grouped parameter"))
        for name, meaning in groups.definitions
    ]  # fmt: skip
    names = [f"{RESIDUAL}{name.rstrip(chr(39))}" for name in equations.layout.speed_names]
    pairs = zip(names, groups.rows, strict=True)
    return [*listed, *(Statement(name, ZERO, ((factored_form(row),),), "scalar") for name, row in pairs)]


def horner_statements(equations: Equations, rows: Sequence[Expr], variable: str) -> list[Statement]:
    """The rows by powers of one quantity: a state or parameter by name, or sin or cos of one."""
    chosen = _quantity(equations, variable)
    names = [f"{RESIDUAL}{name.rstrip(chr(39))}" for name in equations.layout.speed_names]
    pairs = zip(names, (horner(row, chosen) for row in rows), strict=True)
    return [Statement(name, ZERO, ((literal_form(row),),), "scalar", ((row,),)) for name, row in pairs]


def _quantity(equations: Equations, text: str) -> Expr:
    function, _, inner = text.rstrip(")").partition("(")
    layout = equations.layout
    known = {str(x.name): x for x in (*layout.coordinates, *layout.speeds, *layout.accelerations, *layout.parameters)}
    name = inner or text
    if name not in known:
        raise TorseurError(unknown_name("quantity", name, known, "Horner's form: "))
    if not inner:
        return known[name]
    if function not in ("sin", "cos"):
        raise UnsupportedError(
            f"Horner's form goes by powers of a quantity, its sine or its cosine, not of {function}."
        )
    value: Expr = s.sin(known[name]) if function == "sin" else s.cos(known[name])
    return value


def linear_statements(linear: LinearEquations, level: str = "scalar") -> list[Statement]:
    """The equations of small motions, one per speed or as matrices, the state they hold about, and what was assumed."""
    if level == "matrix":
        listed = part_statements(linear.equations, _linear_matrices(linear))
        listed = [one if one.auxiliary else replace(one, remark=_meaning_of_part(linear, one.name)) for one in listed]
    else:
        listed = _linear_rows(linear)
    written = [*_deviations(linear), *listed, *_first_order(linear), *_steady_state(linear)]
    written += assumed_not_to_vanish(linear.pivots)
    return [*written, *assumptions(linear.equations, written), *_small_inputs(linear)]


def _linear_rows(linear: LinearEquations) -> list[Statement]:
    """Σ coefficient * deviation = forces, row by row; long coefficients by their names, which are defined first."""
    letters = [("M", linear.mass_matrix, linear.accelerations), ("D", linear.damping_matrix, linear.speeds),
               ("K", linear.stiffness_matrix, linear.positions)]  # fmt: skip
    remarks, defined, rows = row_remarks(linear.equations), dict[Expr, Statement](), []
    for i, (speed, force) in enumerate(zip(linear.speeds, linear.forces, strict=True)):
        columns = [
            (f"{letter}_{i + 1}_{j + 1}", entry, x)
            for letter, matrix, symbols in letters
            for j, (entry, x) in enumerate(zip(matrix[i], symbols, strict=True))
            if not entry.is_zero
        ]
        is_long = sum(_count(entry) for _, entry, _ in columns) > MOST_IN_A_ROW
        parts: list[Node] = []
        for label, entry, x in columns:
            if is_long and _count(entry) > WORTH_A_NAME and entry not in defined:
                meaning = Remark(f"coefficient of {x.name} along {str(speed.name).rstrip(chr(39))}")
                defined[entry] = Statement(label, read_name(label), ((_node_of(entry),),), "scalar", ((entry,),),
                                           auxiliary=True, remark=meaning)  # fmt: skip
            coefficient = defined[entry].left if entry in defined else _node_of(entry)
            parts.append(times(coefficient, [_deviation_name(linear, x)]))
        left: Node = ZERO if not parts else parts[0] if len(parts) == 1 else Sum(tuple(parts))
        name = f"{RESIDUAL}{str(speed.name).rstrip(chr(39))}"
        rows.append(Statement(name, left, ((_node_of(-force),),), "scalar", remark=remarks[name]))
    return [*defined.values(), *rows]


def _count(entry: Expr) -> int:
    return len(few_terms(entry, MOST_TERMS))


def _node_of(entry: Expr) -> Node:
    return readable_or_literal_form(entry)


def _deviation_name(linear: LinearEquations, x: Expr) -> Node:
    """A variable by its own name where it is zero in the steady state, and as delta_x where not."""
    name = str(x.name)
    return read_name(name if linear.reference.get(x, x).is_zero or x in linear.accelerations else f"delta_{name}")


def _deviations(linear: LinearEquations) -> list[Statement]:
    """What delta_x is, for every one that the equations hold."""
    columns = [*zip(*linear.damping_matrix, strict=True), *zip(*linear.stiffness_matrix, strict=True)]
    pairs = zip([*linear.speeds, *linear.positions], columns, strict=True)
    used = [x for x, column in pairs if any(not entry.is_zero for entry in column)]
    return [
        Statement(f"delta_{x.name}", _deviation_name(linear, x), ((_node_of(linear.deviation(x)),),), "scalar",
                  remark=Remark("deviation from the steady state"))
        for x in used
        if not linear.reference[x].is_zero
    ]  # fmt: skip


def _linear_matrices(linear: LinearEquations) -> list[Part]:
    parts: list[Part] = [("M", linear.mass_matrix, "matrix"), ("D", linear.damping_matrix, "table")]
    if linear.positions:
        parts.append(("K", linear.stiffness_matrix, "table"))
    if any(not force.is_zero for force in linear.forces):
        parts.append(("f", [(-force,) for force in linear.forces], "vector"))
    return parts


def _meaning_of_part(linear: LinearEquations, name: str) -> Remark:
    columns = {"M": linear.accelerations, "D": linear.speeds, "K": linear.positions}
    if name not in columns:
        return Remark("what depends on time alone")
    return Remark(f"coefficients of {', '.join(str(x.name) for x in columns[name])}")


def _first_order(linear: LinearEquations) -> list[Statement]:
    """Rates of coordinates that are no speeds, and what depends on others by the constraints."""
    # The rate of a coordinate that is itself listed follows from it.
    follows = {str(x.name) for x in linear.coordinates}
    tied = {x: row for x, row in linear.rates.items() if str(x.name).removesuffix("'") not in follows}
    listed = [(rate, value, Remark("to first order")) for rate, value in linear.kinematics.items()]
    listed += [
        (x, linear.with_reference(x, row), Remark("by the constraints, to first order"))
        for x, row in (linear.coordinates | tied).items()
    ]
    return [
        Statement(str(x.name), read_name(str(x.name)), ((_node_of(value),),), "scalar", ((value,),), remark=remark)
        for x, value, remark in listed
    ]


def _steady_state(linear: LinearEquations) -> list[Statement]:
    """The values that deviations are counted from: of the positions, and what is not zero."""
    return [
        Statement(f"steady_{x.name}", read_name(str(x.name)), ((_node_of(value),),), "scalar", ((value,),),
                  remark=Remark("in the steady state"))
        for x, value in linear.reference.items()
        if x in linear.positions or not value.is_zero
    ]  # fmt: skip


def _small_inputs(linear: LinearEquations) -> list[Statement]:
    return [
        Statement("", literal_form(u), ((ZERO,),), "name", remark=Remark("counted as small")) for u in linear.inputs
    ]


def piece_text(piece: Piece) -> str:
    """A term as it stands."""
    return plain_text(term(piece.monomial, piece.coefficient))


def change_text(change: Change) -> str:
    """A dropped term as it stands, or a held factor with its value."""
    whole = piece_text(change.piece)
    return whole if change.kind == "dropped" else f"{plain_text(term(change.held, 1))} = {change.value:.6g} in {whole}"
