"""Outputs of a motion given by formulas: the language of criteria, for curves."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.analysis.sensitivity.criteria.motion_formulas import read_formula
from torseur.computation.simulation.model.outputs_and_events import Output
from torseur.computation.simulation.model.system import System


def formula_outputs(texts: Sequence[str], system: System) -> list[Output]:
    """Each text as an output: the name of a quantity, a formula, or `name = formula`."""
    return [formula_output(text, system) for text in texts]


def formula_output(text: str, system: System) -> Output:
    """The output of a text: the name of a quantity, a formula, or `name = formula`."""
    named = {state.name for state in system.states}
    if text in named or text in system.quantities:
        return Output(text)
    name, sign, formula = text.partition("=")
    # A formula has no equality sign; comparisons such as <= have no place in a curve.
    given = (name.strip(), formula.strip()) if sign and not name.endswith(("<", ">")) else (text, text)
    read = read_formula(given[1], system)
    return Output(given[0], read.value, read.unit, "" if given[0] == given[1] else given[1])
