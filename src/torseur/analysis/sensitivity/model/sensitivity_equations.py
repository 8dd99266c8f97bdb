"""The direct and the adjoint system of a study as expressions: its elements, what varies, and the criterion's terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.algebra.graph import Expr, as_expr, directional_derivative, live_nodes, substitute, symbol, symbols_of
from torseur.analysis.sensitivity.criteria.criteria import ReadCriterion, as_criteria, read_criterion
from torseur.analysis.sensitivity.model.preparation import (
    by_symbols,
    dependent_parameters,
    member_names,
    whole_group,
    with_laws,
)
from torseur.analysis.sensitivity.model.unnamed_constants import with_shifts
from torseur.analysis.sensitivity.model.varied_parameters import Requested, Varied, requested_names, varied_of
from torseur.computation.simulation.model.criterion import Criterion
from torseur.computation.simulation.model.first_order_form import system_without_values
from torseur.computation.simulation.model.system import System
from torseur.derivation.equations import Equations
from torseur.derivation.equations.multipliers import multiplier_display_name, multiplier_of
from torseur.derivation.equations.sensitivity_elements import (
    CriterionTerms,
    Direction,
    SensitivityElements,
    Tangent,
)
from torseur.derivation.formalisms import derive
from torseur.derivation.tree import resolve
from torseur.description.mechanism import Mechanism
from torseur.errors import TorseurError, UnsupportedError

# Nodes that jump: the derivatives of a motion through them need the instant of the jump, which no equation holds.
_JUMPS = ("floor",)


@dataclass(frozen=True)
class StudyParameter:
    """A parameter of the study: the symbols that change with it, and the entries of y that start with it."""

    name: str
    direction: Direction
    starts: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, eq=False)
class SensitivityEquations:
    """A(y, t, x) y' = f(y, t, x) with what varies in it and a criterion of its motion."""

    elements: SensitivityElements
    parameters: tuple[StudyParameter, ...]
    criterion: ReadCriterion | None
    at_rest: Mapping[Expr, Expr]
    """Symbols that are zero: shifts of constants that have no name of their own."""

    @property
    def equations(self) -> Equations:
        return self.elements.equations

    @property
    def constrained(self) -> bool:
        return bool(self.equations.multipliers)

    def settle(self, values: list[Expr]) -> list[Expr]:
        """The values with shifts at zero, as they are after all differentiations."""
        return substitute(values, self.at_rest) if self.at_rest else values

    @cached_property
    def formula(self) -> CriterionTerms | None:
        """The criterion's formula: integrand, or what is evaluated at an instant."""
        return None if self.criterion is None else CriterionTerms(self.elements, self.criterion.formula)

    @cached_property
    def when(self) -> CriterionTerms | None:
        """The formula whose change of sign is the instant of the criterion, where that depends on x."""
        if self.criterion is None or self.criterion.when is None:
            return None
        return CriterionTerms(self.elements, self.criterion.when)

    @cached_property
    def names_in_use(self) -> frozenset[str]:
        """Names of quantities of the mechanism, without primes."""
        layout = self.equations.layout
        symbols = (*layout.coordinates, *layout.speeds, *layout.parameters)
        return frozenset(str(x.name).rstrip("'") for x in symbols)

    def prefix(self, letter: str) -> str:
        """The letter that entries of a vector begin with: u_q1, unless the mechanism has such names itself."""
        return letter if not any(name.startswith(f"{letter}_") for name in self.names_in_use) else f"d{letter}"

    def tangent(self, suffix: str = "") -> Tangent:
        """u and u' as symbols, named after the entries of y: u_q1, u_q1', and u_lambda_pin_x of multipliers."""
        names = [str(x.name) for x in self.elements.states]
        rates = [f"{name}'" for name in names] + [spelled_multiplier(m) for m in self.equations.multipliers]
        states = [*names, *(f"integral_{spelled_multiplier(m)}" for m in self.equations.multipliers)]

        def symbols(entries: list[str]) -> tuple[Expr, ...]:
            return tuple(symbol(self.tangent_name(entry, suffix)) for entry in entries)

        return Tangent(symbols(states), symbols(rates), {})

    def tangent_name(self, state: str, suffix: str = "") -> str:
        """The name of dy/dx for an entry of y: u_q1' of q1', with which of several parameters before its primes."""
        bare = state.rstrip("'")
        return f"{self.prefix('u')}_{bare}{suffix}{state[len(bare) :]}"

    @cached_property
    def tangents(self) -> tuple[Tangent, ...]:
        """u of every parameter; named after it where there are several."""
        several = len(self.parameters) > 1
        plain = [self.tangent(f"_{p.name}" if several else "") for p in self.parameters]
        pairs = zip(plain, self.parameters, strict=True)
        return tuple(Tangent(tangent.states, tangent.rates, parameter.direction) for tangent, parameter in pairs)

    @cached_property
    def adjoints(self) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
        """λ and λ' as symbols, one per row of A."""
        numbers = range(1, self.elements.size + 1)
        letter = self.prefix("lambda")
        return tuple(symbol(f"{letter}_{k}") for k in numbers), tuple(symbol(f"{letter}_{k}'") for k in numbers)

    def start(self, parameter: StudyParameter) -> tuple[Expr, ...] | None:
        """u where the motion starts, from the initial values; None where solving for them is part of the start."""
        own = self._start_by(parameter)
        return None if own is None else tuple(self.settle(own))

    def second_start(self, first: StudyParameter, second: StudyParameter) -> tuple[Expr, ...] | None:
        """The second derivatives of y where the motion starts."""
        own = self._start_by(first)
        return None if own is None else tuple(self.settle(directional_derivative(own, second.direction)))

    def _start_by(self, parameter: StudyParameter) -> list[Expr] | None:
        stated = _stated_start(self.equations)
        if stated is None:
            return None
        own = directional_derivative(stated, parameter.direction)
        for slot, weight in parameter.starts:
            own[slot] = as_expr(weight)
        return own


def spelled_multiplier(multiplier: Expr) -> str:
    """The name of a multiplier as it is written: lambda_pin_x."""
    return multiplier_display_name(str(multiplier.name)) or str(multiplier.name)


def _stated_start(equations: Equations) -> list[Expr] | None:
    """y at the start as formulas, where each entry is defined in terms of itself."""
    layout, mechanism = equations.layout, equations.mechanism
    if equations.is_constrained or len(layout.coordinates) - len(mechanism.states) != len(layout.speeds):
        return None
    names = [name for name, _ in mechanism.initial]
    states = [*layout.coordinate_names, *layout.speed_names]
    if any(name not in states for name in names):
        return None
    formulas = resolve(mechanism, equations.tree.definitions, [value for _, value in mechanism.initial])
    given = dict(zip(names, map(as_expr, formulas), strict=True))
    return [given.get(name, as_expr(0)) for name in states]


def sensitivity_equations(
    model: Mechanism | Equations,
    parameters: Requested | None = None,
    criterion: str | Criterion | None = None,
    *,
    integral: bool = False,
    formalism: str = "recursive",
    laws: Mapping[str, Callable[..., object]] | None = None,
) -> SensitivityEquations:
    """The systems that derivatives of a motion by parameters obey, with a criterion's own terms, as expressions.

    `parameters` and `criterion` are named as for `sensitivity`; no values are needed. Parameters that formulas define
    and laws are put in, since they change with what varies. A mechanism is derived by `formalism`.
    """
    if not isinstance(model, Mechanism | Equations):
        raise TorseurError(f"a model is a mechanism or its equations, not {type(model).__name__}.")
    mechanism = model if isinstance(model, Mechanism) else model.mechanism
    listed = [] if parameters is None else member_names(parameters)
    _require_no_contacts(mechanism)
    changed, shifts = with_shifts(with_laws(mechanism, laws) if laws else mechanism, listed)
    own = model if isinstance(model, Equations) else derive(mechanism, formalism)
    derived = own if changed is mechanism else derive(changed, own.formalism)
    system = system_without_values(derived)[1]
    read = None if criterion is None else _read(as_criteria(criterion, integral)[0], system)
    settled = {shift.symbol: as_expr(0) for shift in shifts.values()}
    asked = requested_names(parameters, system)
    known = {quantity.name for quantity in system.parameters}
    skipped = {str(node.name) for node in settled} if parameters is None else set()
    members = {
        name: by_symbols(whole_group(name, group, known, shifts), shifts)
        for name, group in asked.items()
        if name not in skipped
    }
    fixed = dependent_parameters(system)
    varied = [_parameter(varied_of(name, group, system, fixed), derived) for name, group in members.items()]
    if not varied:
        raise TorseurError(f"{system.name} has no parameters: name initial values ('q1(0)') or constants ('arm.mass').")
    written = _as_written(derived, system, read)
    _require_smooth(written)
    return SensitivityEquations(SensitivityElements(written), tuple(varied), read, settled)


def _read(criterion: Criterion, system: System) -> ReadCriterion:
    """The criterion, in the multipliers of the equations instead of those of the solver."""
    read = read_criterion(criterion, system)
    if system.programs is None:
        return read
    names = {m: multiplier_of(c) for m, c in zip(system.programs.multipliers, system.programs.constraints, strict=True)}
    formula, *when = substitute([read.formula, *([] if read.when is None else [read.when])], names)
    return replace(read, formula=formula, when=when[0] if when else None)


def _parameter(varied: Varied, equations: Equations) -> StudyParameter:
    symbols = equations.layout.parameters
    return StudyParameter(varied.name, {symbols[slot]: weight for slot, weight in varied.constants}, varied.starts)


def _as_written(derived: Equations, system: System, criterion: ReadCriterion | None) -> Equations:
    """The equations in the writing that people read, formulas put in.

    Loops close in the axes that are shortest to write, unless the criterion holds multipliers or reactions: these are
    components in the axes in which motions are computed.
    """
    shared = derived.in_one_writing
    formulas = [] if criterion is None else [criterion.formula, *([] if criterion.when is None else [criterion.when])]
    multipliers = set(derived.multipliers) if derived.is_constrained else set()
    return shared if multipliers & set(symbols_of(formulas)) else shared.in_axes_to_read


def _require_no_contacts(mechanism: Mechanism) -> None:
    if mechanism.contacts:
        raise UnsupportedError(
            f"'{mechanism.name}' has stops, dry friction or contacts: at their instants tangents and adjoints jump, "
            "and no system that holds throughout is written. `without_contacts(mechanism)` is the motion between them."
        )


def _require_smooth(equations: Equations) -> None:
    moving = {*equations.layout.coordinates, *equations.layout.speeds, equations.time}
    for node in live_nodes(equations.formulas):
        if node.op in _JUMPS and moving.intersection(symbols_of([node])):
            raise UnsupportedError(
                f"'{node}' jumps along the motion of '{equations.mechanism.name}': between jumps the system is written "
                "with it held constant, which no equation says. `sensitivity` computes with such notes."
            )
