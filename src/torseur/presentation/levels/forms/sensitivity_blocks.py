"""The systems of a sensitivity study as matrices that are not written out, and the letters that they are written in."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from torseur.analysis.sensitivity.model.sensitivity_equations import SensitivityEquations, StudyParameter
from torseur.derivation.equations.sensitivity_elements import CriterionTerms
from torseur.derivation.equations.terms.short_sum import HOPELESS
from torseur.errors import UnsupportedError
from torseur.presentation.levels.forms.matrix_nodes import (
    add,
    at_start,
    equal,
    integral,
    minus,
    quotient,
    times,
    transpose,
)
from torseur.presentation.levels.levels import ZERO, part_statements
from torseur.presentation.levels.statement import Remark, Statement
from torseur.presentation.typesetting.formula_tree import Name, Node, Number

TIME_NAME = Name("t")
_INDEX = re.compile(r"[^\w.]+")  # q1(0) is the index q1_0
SPARE = {"g": "G", "p": "P", "h": "H"}  # criteria have another letter where g is gravity


@dataclass(frozen=True, eq=False)
class Letters:
    """Names of the matrices, vectors and criteria; a letter that the mechanism uses itself is left to it: A_s, G."""

    system: SensitivityEquations

    @cached_property
    def letters_in_use(self) -> frozenset[str]:
        return frozenset(name.split("_")[0] for name in self.system.names_in_use)

    def spell(self, letter: str, of: str = "") -> str:
        """A letter with what it is differentiated by as its subscript, and its primes last."""
        bare = letter.rstrip("'")
        spare = SPARE.get(bare, f"{bare}_s")
        own = bare if bare not in self.letters_in_use else spare if spare not in self.letters_in_use else f"{bare}_s"
        index = f"_{_INDEX.sub('_', of).strip('_')}" if of else ""
        return own + index + letter[len(bare) :]

    def bold(self, letter: str, of: str = "") -> Name:
        """The name of a matrix or vector."""
        text = self.spell(letter, of)
        bare = text.rstrip("'")
        return Name(bare, len(text) - len(bare), bold=True)

    def plain(self, letter: str, of: str = "") -> Name:
        """The name of a number."""
        text = self.spell(letter, of)
        bare = text.rstrip("'")
        return Name(bare, len(text) - len(bare))


class SensitivityBlocks:
    """The systems of one study, as products of matrices."""

    def __init__(self, system: SensitivityEquations, method: str, second_order: bool) -> None:
        self.system, self.method, self.second_order = system, method, second_order
        self.letters, self.elements = Letters(system), system.elements
        self.terms: CriterionTerms | None = system.formula
        self.when: CriterionTerms | None = system.when
        self.kind = "" if system.criterion is None else system.criterion.kind
        self.start_time, self.end_time = Name("t_0"), Name("t_f")
        bold = self.letters.bold
        self.matrix, self.matrix_rate = bold("A"), bold("A'")
        self.jacobian, self.mass_jacobian = bold("J"), bold("B")
        self.homogeneous = add(self.jacobian, minus(self.mass_jacobian))
        self.rate = bold("y'")
        self.adjoint, self.adjoint_rate, self.kappa = bold("lambda"), bold("lambda'"), bold("kappa")
        if self.when is not None and (self.when.has_rates or (self.terms is not None and self.terms.has_rates)):
            raise UnsupportedError(
                f"criterion '{system.criterion.label if system.criterion else ''}': where an event has accelerations "
                "or multipliers in it, its system holds their rates and is not written; `sensitivity` computes it."
            )

    @property
    def letter(self) -> str:
        """p of an integral criterion, g of one at an instant."""
        return "p" if self.kind == "integral" else "g"

    @property
    def has_rates(self) -> bool:
        return self.terms is not None and self.terms.has_rates

    @property
    def is_event(self) -> bool:
        return self.when is not None

    def of_states(self) -> Node:
        """The criterion's derivative by y as it acts: with the part of y' in it, or of the instant that moves."""
        own: Node = self.letters.bold(self.letter, "y")
        if self.has_rates:
            return add(own, times(transpose(self.kappa), self.homogeneous))
        if self.kind == "event time":
            return minus(times(self.letters.plain("rho"), self.letters.bold("h", "y")))
        return add(own, minus(times(self.letters.plain("rho"), self.letters.bold("h", "y")))) if self.is_event else own

    def of_parameter(self, parameter: StudyParameter) -> list[Node]:
        """Its derivative by x as it acts, in terms."""
        if not parameter.direction:
            return []
        own: Node = self.letters.plain(self.letter, parameter.name)
        if self.has_rates:
            return [own, times(transpose(self.kappa), self.forcing(parameter))]
        if self.is_event:
            moved = minus(times(self.letters.plain("rho"), self.letters.plain("h", parameter.name)))
            return [moved] if self.kind == "event time" else [own, moved]
        return [own]

    def forcing(self, parameter: StudyParameter) -> Node:
        """f_x - A_x y', nothing for an initial value."""
        if not parameter.direction:
            return ZERO
        name = parameter.name
        return add(self.letters.bold("f", name), minus(times(self.letters.bold("A", name), self.rate)))

    def starts_with(self, parameter: StudyParameter) -> bool:
        """Whether u is not zero at the start, or not known to be."""
        start = self.system.start(parameter)
        return start is None or any(not entry.is_zero for entry in start)

    def start_term(self, tangent: Node) -> Node:
        """-λᵀ A u where the motion starts."""
        return minus(times(transpose(at_start(self.adjoint)), at_start(self.matrix), tangent))

    def blocks(self) -> list[Statement]:
        """The systems as matrices that are not written out."""
        listed = [] if self.method == "adjoint" and not self.second_order else self._direct_blocks()
        if self.method == "adjoint":
            listed += self._adjoint_blocks()
        return listed + self.gradient_blocks() + (self._second_blocks() if self.second_order else [])

    def _direct_blocks(self) -> list[Statement]:
        listed = []
        for parameter in self.system.parameters:
            u, rate = self.tangents_of(parameter)
            right = add(times(self.homogeneous, u), self.forcing(parameter))
            about = Remark(f"{u.text} = dy/d{parameter.name}")
            listed.append(equal(f"direct_{parameter.name}", times(self.matrix, rate), right, about))
            listed.append(self._start(parameter))
        return listed

    def tangents_of(self, parameter: StudyParameter) -> tuple[Name, Name]:
        """u and u'; those of several parameters are told apart where both are in one formula."""
        index = parameter.name if self.second_order and len(self.system.parameters) > 1 else ""
        return self.letters.bold("u", index), self.letters.bold("u'", index)

    def _start(self, parameter: StudyParameter) -> Statement:
        start = self.system.start(parameter)
        left = at_start(self.tangents_of(parameter)[0])
        if start is None:
            how = "dy/dx of the initial state, which the start solves for"
            return Statement("u_0", left, ((ZERO,),), "name", remark=Remark(how))
        rows = part_statements(self.system.equations, [("u_0", [(entry,) for entry in start], "vector")], HOPELESS)
        return Statement("u_0", left, rows[-1].rows, "components", remark=Remark(f"of {parameter.name}"))

    def _adjoint_blocks(self) -> list[Statement]:
        rate = add(transpose(self.matrix_rate), transpose(self.jacobian), minus(transpose(self.mass_jacobian)))
        left = add(times(transpose(self.matrix), self.adjoint_rate), times(rate, self.adjoint))
        right = transpose(self.of_states()) if self.kind == "integral" else ZERO
        end = ZERO if self.kind == "integral" else minus(transpose(self.of_states()))
        where = "t_f" if self.kind in ("value", "integral") else "the instant of the criterion, t_f"
        return [
            *self._own_terms(),
            equal("adjoint", left, right, Remark("backwards from t_f")),
            equal("end", times(transpose(self.matrix), self.adjoint), end, Remark(f"at {where}")),
        ]

    def _own_terms(self) -> list[Statement]:
        """What stands between the criterion and its derivatives: κ of accelerations, ρ of an instant that moves."""
        listed = []
        if self.has_rates:
            about = Remark("what the accelerations and multipliers in the criterion contribute")
            by_rates = transpose(self.letters.bold(self.letter, "z"))
            listed.append(equal("kappa_system", times(transpose(self.matrix), self.kappa), by_rates, about))
        if self.is_event:
            rate: Node = self.letters.plain("h'")
            above: Node = Number(Fraction(1)) if self.kind == "event time" else self.letters.plain("g'")
            about = Remark("h is zero at the instant, which moves by -(h_x + h_y u)/h'")
            listed.append(equal(self.letters.spell("rho"), self.letters.plain("rho"), quotient(above, rate), about))
        return listed

    def gradient_blocks(self) -> list[Statement]:
        if self.terms is None:
            return []
        first = self._own_terms() if self.method == "direct" else []
        return first + [self._gradient(parameter) for parameter in self.system.parameters]

    def _gradient(self, parameter: StudyParameter) -> Statement:
        own = self.of_parameter(parameter)
        if self.method == "direct":
            terms = add(*own, times(self.of_states(), self.tangents_of(parameter)[0]))
            right = integral(terms, TIME_NAME, self.start_time, self.end_time) if self.kind == "integral" else terms
        else:
            forcing = self.forcing(parameter)
            along = ZERO if forcing == ZERO else minus(times(transpose(self.adjoint), forcing))
            inner = add(*own, along) if self.kind == "integral" else along
            whole = ZERO if inner == ZERO else integral(inner, TIME_NAME, self.start_time, self.end_time)
            right = whole if self.kind == "integral" else add(*own, whole)
            if self.starts_with(parameter):
                right = add(right, self.start_term(at_start(self.tangents_of(parameter)[0])))
        return self.gradient_statement(parameter, right)

    def gradient_statement(self, parameter: StudyParameter, right: Node) -> Statement:
        """dg/dx = right."""
        left = Name(f"d{self.letters.spell('g')}/d{parameter.name}")
        return equal(f"dg_d{parameter.name}", left, right)

    def _second_blocks(self) -> list[Statement]:
        listed = []
        for j, first in enumerate(self.system.parameters):
            for second in self.system.parameters[j:]:
                pair = f"{first.name}_{second.name}"
                if self.method == "direct":
                    double, rate = self.letters.bold("u", pair), self.letters.bold("u'", pair)
                    right = add(times(self.homogeneous, double), self.letters.bold("s", pair))
                    about = Remark(f"second derivatives by {first.name} and {second.name}")
                    listed.append(equal(f"second_{pair}", times(self.matrix, rate), right, about))
                if self.terms is not None:
                    listed.append(self._hessian(first, second, pair))
        return listed

    def _hessian(self, first: StudyParameter, second: StudyParameter, pair: str) -> Statement:
        if self.is_event or self.has_rates:
            raise UnsupportedError(
                "second derivatives are written of values, integrals, maxima and minima of formulas of positions, "
                "speeds and parameters; `sensitivity(..., second_order=True)` computes the others."
            )
        left = Name(f"d2{self.letters.spell('g')}/d{first.name}/d{second.name}")
        own = self.letters.plain(self.letter, pair)
        if self.method == "direct":
            terms = add(own, times(self.of_states(), self.letters.bold("u", pair)))
            right = integral(terms, TIME_NAME, self.start_time, self.end_time) if self.kind == "integral" else terms
            return self.with_moving_extremum(equal(f"d2g_{pair}", left, right), first, second)
        along = minus(times(transpose(self.adjoint), self.letters.bold("s", pair)))
        inner = add(own, along) if self.kind == "integral" else along
        whole = integral(inner, TIME_NAME, self.start_time, self.end_time)
        right = whole if self.kind == "integral" else add(own, whole)
        start = self.system.second_start(first, second)
        if start is None or any(not entry.is_zero for entry in start):
            right = add(right, self.start_term(at_start(self.letters.bold("u", pair))))
        return self.with_moving_extremum(equal(f"d2g_{pair}", left, right), first, second)

    def with_moving_extremum(self, hessian: Statement, first: StudyParameter, second: StudyParameter) -> Statement:
        """The second derivative of a maximum or minimum, whose instant t* moves: g' = 0 there gives dt*/dx = -g'_x/g''.

        d²G = (d²g at fixed time) - g'_j g'_k/g''. To first order t* does not count, because g' = 0.
        """
        if self.kind not in ("maximum", "minimum"):
            return hessian
        letter = self.letters.spell("g")
        moved = quotient(
            times(Name(f"d{letter}'/d{first.name}"), Name(f"d{letter}'/d{second.name}")), self.letters.plain("g''")
        )
        about = Remark(f"at the {self.kind}, whose instant moves by -(d{letter}'/dx)/{letter}''; where it is inside")
        ((right,),) = hessian.rows
        return replace(hessian, rows=((add(right, minus(moved)),),), remark=about)

    def meanings(self) -> list[Statement]:
        """What the letters are."""
        said = {
            "y": "the state: coordinates, speeds" + (", integrals of multipliers" if self.system.constrained else ""),
            "A": "1 for the coordinates, then M" + (" and the constraints' C" if self.system.constrained else ""),
            "f": "q' in terms of speeds, then Q - b" + (", then gamma" if self.system.constrained else ""),
            "J": "df/dy",
            "B": "its columns are (dA/dy_i) y'",
        }
        pairs = [(self.letters.bold(letter), text) for letter, text in said.items()]
        return [Statement(left.text, left, ((ZERO,),), "name", remark=Remark(text)) for left, text in pairs]
