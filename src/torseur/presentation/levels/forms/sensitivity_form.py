"""The direct and the adjoint system of a sensitivity study, as statements at every level.

intrinsic   A u' = (J - B) u + f_x - A_x y' and the adjoint system, as matrices that are not written out
matrix      the same, then every matrix by its entries
recursive   the same, with the entries in terms of named intermediates in the order they are computed
scalar      one equation per speed, ordered in u'', u', u; one adjoint equation per state
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torseur.algebra.graph import Expr
from torseur.analysis.sensitivity.model.sensitivity_equations import SensitivityEquations
from torseur.derivation.equations.terms.equal_values import merge_equal_values
from torseur.derivation.equations.terms.short_sum import HOPELESS
from torseur.errors import TorseurError, unknown_name
from torseur.presentation.levels.forms.sensitivity_entries import Entry
from torseur.presentation.levels.forms.sensitivity_rows import SensitivityWriter
from torseur.presentation.levels.levels import LEVELS, definition_statements, part_statements
from torseur.presentation.levels.statement import Statement
from torseur.presentation.typesetting.formula_tree import Name
from torseur.presentation.typesetting.read_graph import read_name
from torseur.presentation.typesetting.recursion import definitions

METHODS = ("direct", "adjoint")


def sensitivity_statements(
    system: SensitivityEquations, method: str = "direct", level: str = "matrix", second_order: bool = False
) -> list[Statement]:
    """The system of a method, with the criterion's own terms where there is one."""
    if method not in METHODS:
        raise TorseurError(unknown_name("method", method, METHODS))
    if level not in LEVELS:
        raise TorseurError(unknown_name("level", level, LEVELS))
    if method == "adjoint" and system.criterion is None:
        raise TorseurError(
            "the adjoint system has the derivatives of a criterion on its right side: give one, such as "
            'criterion="kinetic_energy" (--criterion).'
        )
    writer = SensitivityWriter(system, method, second_order)
    if level == "intrinsic":
        return [*writer.blocks(), *writer.meanings()]
    if level == "scalar":
        return [*writer.scalar_rows(), *writer.constraints()]
    entries = writer.entries()
    written = _matrices(system, entries) if level == "matrix" else _recursively(system, entries)
    return [*writer.blocks(), *written, *writer.constraints()]


def _matrices(system: SensitivityEquations, entries: Sequence[Entry]) -> list[Statement]:
    parts = [(name, system_rows(system, rows), shape) for name, rows, shape, _ in entries]
    listed = part_statements(system.equations, parts, HOPELESS)
    return _with_remarks(listed, entries)


def _recursively(system: SensitivityEquations, entries: Sequence[Entry]) -> list[Statement]:
    flat = [e for _, rows, _, _ in entries for row in system_rows(system, rows) for e in row]
    lines, nodes = definitions(merge_equal_values(flat))
    told = iter(nodes)
    listed = definition_statements(system.equations, lines)
    for name, rows, shape, _ in entries:
        written = tuple(tuple(next(told) for _ in row) for row in rows)
        left = read_name(name) if shape == "scalar" else _bold(name)
        listed.append(Statement(name, left, written, shape, tuple(tuple(row) for row in rows)))
    return _with_remarks(listed, entries)


def _bold(name: str) -> Name:
    read = read_name(name)
    return Name(read.text, read.dots, bold=True)


def _with_remarks(listed: Sequence[Statement], entries: Sequence[Entry]) -> list[Statement]:
    """The statements as parts of others, bold and with their dots, each with what it is."""
    remarks = {name: remark for name, _, _, remark in entries}
    return [
        replace(one, left=one.left if one.shape == "scalar" else _bold(one.name), remark=remarks[one.name],
                auxiliary=True)
        if one.name in remarks
        else one
        for one in listed
    ]  # fmt: skip


def system_rows(system: SensitivityEquations, rows: Sequence[Sequence[Expr]]) -> list[list[Expr]]:
    """The entries with shifts at zero."""
    return [system.settle(list(row)) for row in rows]
