"""The cards of what stands behind the equations: a formalism's own steps, and the equations without multipliers."""

from __future__ import annotations

from dataclasses import replace

from torseur.algebra.graph import live_nodes
from torseur.derivation.equations import Equations
from torseur.errors import UnsupportedError, counted
from torseur.presentation.levels.forms.reduced_form import reduced_statements
from torseur.presentation.levels.object_statements import object_statements
from torseur.presentation.levels.statement import Statement
from torseur.presentation.report.compose.level_cards import MOST_LINES, definition
from torseur.presentation.report.page.equation_content import EquationBlock
from torseur.presentation.typesetting.plain_text import plain_text

FORMALISM_TITLES = {
    "recursive": "Recursive, spatial algebra", "newton_euler": "Newton-Euler", "dalembert": "d'Alembert",
    "lagrange": "Lagrange", "lagrange_multipliers": "Lagrange with multipliers", "hamilton": "Hamilton", "kane": "Kane",
    "gibbs_appell": "Gibbs-Appell", "boltzmann_hamel": "Boltzmann-Hamel", "lie_group": "Lie group",
    "inertia_tensors": "Global inertia tensors",
}  # fmt: skip
MOST_OPERATIONS = 400  # of the equations of motion; beyond, the steps towards them are not read but searched
MOST_CONSTRAINTS = 4  # that are eliminated in formulas


def derivation_block(equations: Equations) -> EquationBlock | None:
    """What the formalism computes on its way, in its order; None where that is nothing, or too much to read."""
    if _operations(equations) > MOST_OPERATIONS:
        return None
    listed = object_statements(equations.objects)
    if not 0 < len(listed) <= MOST_LINES:
        return None
    steps = [one for one in listed if not one.auxiliary]
    title = f"steps of {FORMALISM_TITLES[equations.formalism]}"
    note = f"In their order; `torseur objects --formalism {equations.formalism}` prints them in every format."
    return _card("Derivation", title, note, listed, _titles(steps))


def reduced_block(equations: Equations) -> EquationBlock | None:
    """One equation per independent speed, and the other speeds; None without constraints or beyond reading."""
    if not 0 < len(equations.constraints) <= MOST_CONSTRAINTS or _operations(equations) > MOST_OPERATIONS:
        return None
    try:
        listed = reduced_statements(equations)
    except UnsupportedError:
        return None
    # The constraints and the laws have cards of their own.
    own = [one for one in listed if one.shape == "scalar" and not one.name.startswith(("Phi_", "formula_"))]
    divided = [plain_text(one.left) for one in listed if one.shape == "name" and "assumed" in one.remark.meaning]
    where = f" It holds where this does not vanish: {', '.join(dict.fromkeys(divided))}." if divided else ""
    count = counted(sum(1 for one in own if one.name.startswith("R_")), "equation")
    note = f"In the independent speeds; the others follow from the constraints.{where}"
    return _card("Without multipliers", count, note, own, {})


def _card(title: str, subtitle: str, note: str, listed: list[Statement], titles: dict[str, str]) -> EquationBlock:
    folded = [one for one in listed if one.auxiliary]
    places = {plain_text(one.left): k for k, one in enumerate(folded)}
    shown = [replace(definition(one, places), title=titles.get(one.name, "")) for one in listed if not one.auxiliary]
    return EquationBlock(
        title, subtitle, note, equations=tuple(shown), folded=tuple(definition(one, places) for one in folded),
        is_open=False, folded_title="with",
    )  # fmt: skip


def _titles(steps: list[Statement]) -> dict[str, str]:
    """The group of results before its first one, by the name of this."""
    titles: dict[str, str] = {}
    for one in steps:
        group = one.name.partition("[")[0].partition(".")[0]
        if group not in titles.values():
            titles[one.name] = group
    return {name: group[:1].upper() + group[1:] for name, group in titles.items()}


def _operations(equations: Equations) -> int:
    return sum(1 for _ in live_nodes(equations.as_read.residual))
