"""The cards of what stands behind the equations and beside them.

A formalism's own steps, the generation algorithm, the equations without multipliers, and the systems that derivatives
of a motion by parameters obey.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

from torseur.algebra.graph import live_nodes
from torseur.analysis.sensitivity.model.sensitivity_equations import sensitivity_equations
from torseur.derivation.equations import Equations
from torseur.errors import TorseurError, UnsupportedError, counted
from torseur.presentation.levels.forms.generation_form import generation_steps
from torseur.presentation.levels.forms.reduced_form import reduced_statements
from torseur.presentation.levels.forms.sensitivity_form import sensitivity_statements
from torseur.presentation.levels.object_statements import object_statements
from torseur.presentation.levels.statement import Statement
from torseur.presentation.report.compose.level_cards import MOST_LINES, bracketed, definition
from torseur.presentation.report.page.equation_content import Equation, EquationBlock, Term
from torseur.presentation.typesetting.formula import Formula, formula
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
    command = f"torseur objects --formalism {equations.formalism}"
    note = f"In their order; `{command}` prints them in every format."
    return _card("Derivation", title, note, listed, _titles(steps), command)


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
    return _card("Without multipliers", count, note, own, {}, "torseur equations --level scalar --eliminate")


def generation_block(equations: Equations) -> EquationBlock | None:
    """The generation algorithm from bodies and joints to the equations, step by step; None beyond reading."""
    if not equations.mechanism.bodies or _operations(equations) > MOST_OPERATIONS:
        return None
    try:
        steps = generation_steps(equations)
    except UnsupportedError:
        return None
    shown = [(step, one) for step in steps for one in step.statements]
    if len(shown) > MOST_LINES:
        return None
    first = {id(step.statements[0]): step for step in steps if step.statements}
    titles = {key: f"{step.title}: {step.account}" for key, step in first.items()}
    rows = tuple(replace(_whole(one), title=titles.get(id(one), "")) for _, one in shown)
    note = "Unevaluated mass blocks and passage matrices, then the substitution; `torseur derivation` prints the steps."
    return EquationBlock(
        "Generation", counted(len(steps), "step"), note, equations=rows, is_open=False, command="torseur derivation"
    )


@dataclass(frozen=True)
class SensitivityStudy:
    """The criterion and parameters of a page's sensitivity systems; by default the first coordinate, and all."""

    criterion: str = ""
    parameters: str | None = None


DEFAULT_STUDY = SensitivityStudy()


def sensitivity_blocks(equations: Equations, study: SensitivityStudy) -> list[EquationBlock]:
    """The direct and the adjoint system in scalars; nothing without parameters or beyond reading."""
    names = equations.layout.coordinate_names
    if not names or not equations.layout.parameters or _operations(equations) > MOST_OPERATIONS:
        return []
    criterion = study.criterion or names[0]
    try:
        system = sensitivity_equations(equations, study.parameters, criterion)
        direct = sensitivity_statements(system, "direct", "scalar")
        adjoint = sensitivity_statements(system, "adjoint", "scalar")
    except TorseurError:
        return []
    if max(len(direct), len(adjoint)) > MOST_LINES:
        return []
    about = system.criterion.label if system.criterion is not None else ""
    where = f"The criterion is {about} at the end; `torseur equations --sensitivity` takes any, and writes matrices."
    last = {f"dg_d{p.name}": "Derivatives of the criterion" for p in system.parameters[:1]}
    ends = {"adjoint_1": "Backwards in time", "end_1": "At the end", **last}
    return [
        _card(
            "Sensitivity, direct",
            "A u' = (J - B) u + f_x - A_x y'",
            f"u = dy/dx by each x. {where}",
            direct,
            last,
            "torseur equations --sensitivity direct",
        ),
        _card(
            "Sensitivity, adjoint",
            "Aᵀ λ' + (A'ᵀ + Jᵀ - Bᵀ) λ = 0",
            f"One λ per row. {where}",
            adjoint,
            ends,
            "torseur equations --sensitivity adjoint",
        ),
    ]


def _whole(statement: Statement) -> Equation:
    """A statement with its matrix, if it is one, as a whole."""
    if statement.shape == "name":
        said = statement.remark.text
        return Equation(formula(statement.left), (Term(Formula(f"<mtext>{escape(said)}</mtext>", said, said)),))
    if statement.shape == "scalar":
        return replace(definition(statement, {}), unit=statement.remark.text)
    return Equation(formula(statement.left), (Term(bracketed(statement)),), unit=statement.remark.text)


def _card(
    title: str, subtitle: str, note: str, listed: list[Statement], titles: dict[str, str], command: str
) -> EquationBlock:
    folded = [one for one in listed if one.auxiliary]
    places = {plain_text(one.left): k for k, one in enumerate(folded)}
    shown = [replace(definition(one, places), title=titles.get(one.name, "")) for one in listed if not one.auxiliary]
    return EquationBlock(
        title, subtitle, note, equations=tuple(shown), folded=tuple(definition(one, places) for one in folded),
        is_open=False, folded_title="with", command=command,
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
