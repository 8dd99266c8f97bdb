"""The matrices of a sensitivity study by their entries."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.graph import Expr, symbol
from torseur.analysis.sensitivity.model.sensitivity_equations import StudyParameter, spelled_multiplier
from torseur.derivation.equations.sensitivity_elements import CriterionTerms, Tangent
from torseur.presentation.levels.forms.sensitivity_blocks import SensitivityBlocks
from torseur.presentation.levels.statement import Remark

Entry = tuple[str, Sequence[Sequence[Expr]], str, Remark]  # name, rows, shape, what it is


class SensitivityEntries(SensitivityBlocks):
    """The systems of one study, with every matrix written out."""

    def entries(self) -> list[Entry]:
        """The matrices by their entries."""
        say, e, system = self.letters.spell, self.elements, self.system
        state = [*e.states, *(symbol(f"integral_{spelled_multiplier(m)}") for m in system.equations.multipliers)]
        listed: list[Entry] = [
            (say("y"), _column(state), "vector", Remark("the state")),
            (say("y'"), _column(e.rates), "vector", Remark("its rate")),
            (say("A"), e.matrix, "table", Remark()),
            (say("f"), _column(e.right), "vector", Remark()),
            (say("J"), e.jacobian, "table", Remark("df/dy")),
            (say("B"), e.mass_jacobian, "table", Remark("columns (dA/dy_i) y'")),
        ]
        if self.method == "adjoint":
            listed.append((say("A'"), e.matrix_rate, "table", Remark("the rate of A")))
            adjoints, rates = system.adjoints
            listed.append((say("lambda"), _column(adjoints), "vector", Remark("adjoints of the rows of A")))
            listed.append((say("lambda'"), _column(rates), "vector", Remark()))
        if self.method == "direct" or self.second_order:
            listed += self._tangent_entries()
        for parameter in self.changing:
            name = parameter.name
            listed.append((say("A", name), e.matrix_by(parameter.direction), "table", Remark(f"dA/d{name}")))
            listed.append((say("f", name), _column(e.right_by(parameter.direction)), "vector", Remark(f"df/d{name}")))
        return listed + self._criterion_entries() + (self.second_entries() if self.second_order else [])

    def _tangent_entries(self) -> list[Entry]:
        """u and u' of the parameters: one pair of vectors for all, or one each where products of them occur."""
        if not self.second_order:
            return self._pair("", self.system.tangent())
        several = len(self.system.parameters) > 1
        pairs = zip(self.system.parameters, self.system.tangents, strict=True)
        listed = [one for p, tangent in pairs for one in self._pair(p.name if several else "", tangent)]
        if self.method == "direct":
            for j, first in enumerate(self.system.parameters):
                for second in self.system.parameters[j:]:
                    pair = f"{first.name}_{second.name}"
                    listed += self._pair(pair, self.system.tangent(f"_{pair}"))
        return listed

    def _pair(self, index: str, tangent: Tangent) -> list[Entry]:
        say = self.letters.spell
        return [
            (say("u", index), _column(tangent.states), "vector", Remark("derivatives of y")),
            (say("u'", index), _column(tangent.rates), "vector", Remark()),
        ]

    @property
    def changing(self) -> list[StudyParameter]:
        """The parameters that are in the equations or the criterion, not in the start alone."""
        return [parameter for parameter in self.system.parameters if parameter.direction]

    def _criterion_entries(self) -> list[Entry]:
        if self.terms is None:
            return []
        say, letter, listed = self.letters.spell, self.letter, list[Entry]()
        if self.kind != "event time":
            listed += self._derivatives(letter, self.terms, "the criterion")
            if self.has_rates:
                listed.append((say(letter, "z"), [self.terms.by_rates], "table", Remark(f"d{letter}/dy'")))
                prefix = self.system.prefix("kappa")
                numbers = [symbol(f"{prefix}_{k}") for k in range(1, self.elements.size + 1)]
                listed.append((say("kappa"), _column(numbers), "vector", Remark("its adjoints of y'")))
            if self.is_event:
                listed.append((say("g'"), [(self.terms.time_derivative,)], "scalar", Remark("its rate")))
        if self.when is not None:
            listed += self._derivatives("h", self.when, "zero at the instant of the criterion")
            listed.append((say("h'"), [(self.when.time_derivative,)], "scalar", Remark("its rate")))
        return listed

    def _derivatives(self, letter: str, terms: CriterionTerms, meaning: str) -> list[Entry]:
        say = self.letters.spell
        listed: list[Entry] = [
            (say(letter), [(terms.formula,)], "scalar", Remark(meaning)),
            (say(letter, "y"), [terms.by_states], "table", Remark(f"d{letter}/dy")),
        ]
        for parameter in self.changing:
            name = parameter.name
            listed.append(
                (say(letter, name), [(terms.by(parameter.direction),)], "scalar", Remark(f"d{letter}/d{name}"))
            )
        return listed

    def second_entries(self) -> list[Entry]:
        say, listed = self.letters.spell, list[Entry]()
        tangents, parameters = self.system.tangents, self.system.parameters
        for j, first in enumerate(parameters):
            for k in range(j, len(parameters)):
                pair = f"{first.name}_{parameters[k].name}"
                forcing = self.elements.second_forcing(tangents[j], tangents[k])
                about = Remark("second derivatives of f - A y' along the tangents")
                listed.append((say("s", pair), _column(forcing), "vector", about))
                if self.terms is not None:
                    value = self.elements.second_derivative(self.terms.formula, tangents[j], tangents[k])
                    listed.append((say(self.letter, pair), [(value,)], "scalar", Remark("along the tangents")))
        return listed


def _column(values: Sequence[Expr]) -> list[tuple[Expr]]:
    return [(value,) for value in values]
