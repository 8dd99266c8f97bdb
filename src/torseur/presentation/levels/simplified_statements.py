"""Simplified equations as statements: grouped parameters with their definitions, Horner's form, what was neglected."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.graph import Expr
from torseur.algebra.graph import scalar as s
from torseur.derivation.equations import Equations
from torseur.derivation.equations.simplification import Change, Piece, group_parameters, horner
from torseur.derivation.equations.terms.short_sum import few_terms
from torseur.errors import TorseurError, UnsupportedError, unknown_name
from torseur.presentation.levels.levels import RESIDUAL, ZERO
from torseur.presentation.levels.statement import Remark, Statement
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.read_graph import factored_form, literal_form, read_name, term

MOST_TERMS = 400


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


def piece_text(piece: Piece) -> str:
    """A term as it stands."""
    return plain_text(term(piece.monomial, piece.coefficient))


def change_text(change: Change) -> str:
    """A dropped term as it stands, or a held factor with its value."""
    whole = piece_text(change.piece)
    return whole if change.kind == "dropped" else f"{plain_text(term(change.held, 1))} = {change.value:.6g} in {whole}"
