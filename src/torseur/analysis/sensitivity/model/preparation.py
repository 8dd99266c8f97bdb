"""A model made ready for a study: laws as formulas, constants as parameters, its state where the motion starts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from torseur.algebra.graph import Expr, Program, as_expr, evaluate, live_nodes, symbol
from torseur.analysis.sensitivity.criteria.motion_formulas import read_formula
from torseur.analysis.sensitivity.events.contact_jumps import restitution_formulas, restitution_names
from torseur.analysis.sensitivity.model.unnamed_constants import Shift, shift_name, with_shifts
from torseur.analysis.sensitivity.model.varied_parameters import Requested, Varied, requested_names, varied_of
from torseur.computation.simulation.constrained.contacts.contact_gaps import switching_elements
from torseur.computation.simulation.model.first_order_form import Model, as_system, without_switching
from torseur.computation.simulation.model.outputs_and_events import Impact
from torseur.computation.simulation.model.singular_mass import require_determined
from torseur.computation.simulation.model.system import System
from torseur.computation.simulation.simulate import system_on_constraints
from torseur.derivation.equations import Equations
from torseur.derivation.equations.simplification.constrained_model import KEPT
from torseur.derivation.formalisms import derive
from torseur.derivation.tree import resolve
from torseur.derivation.tree.flatten import flatten
from torseur.description.mechanism import Bound, Law, Mechanism, require_continuous
from torseur.errors import TorseurError, UnsupportedError


@dataclass(frozen=True, eq=False)
class Prepared:
    """The system where its motion starts, what varies in it, and values that replace those of the description.

    `impacts` are contacts beside those of the mechanism. For motions in time steps `system` has no contacts and no
    friction in it; `switching` is the one that has.
    """

    model: Model
    system: System
    varied: tuple[Varied, ...]
    values: Mapping[str, float]
    initial: Mapping[str, float]
    start: float
    impacts: tuple[Impact, ...] = ()
    switching: System | None = None

    @property
    def restitutions(self) -> tuple[Expr, ...]:
        """Restitution of each contact as a formula of the parameters, those of the mechanism first."""
        programs, own = self.system.programs, []
        if programs is not None:
            equations = programs.equations
            own = [e.restitution for e in switching_elements(equations) if isinstance(e, Bound)]
            own = resolve(equations.mechanism, dict(equations.tree.definitions), own)
        return (*own, *restitution_formulas(self.impacts, self._restitution_shifts))

    @property
    def _restitution_shifts(self) -> dict[str, Expr]:
        """Symbols that vary the restitution of other contacts, by the names of what varies."""
        programs, names = self.system.programs, {n for impact in self.impacts for n in restitution_names(impact)}
        known = {str(node.name): node for node in programs.equations.layout.parameters} if programs is not None else {}
        return {name: known[shift_name(name)] for name in names if shift_name(name) in known}

    def with_shift(self, parameter: Varied, step: float) -> Prepared:
        """The same with one parameter of the study changed, its start assembled anew; nothing varies in it any more."""
        system = self.system
        names, states = [q.name for q in system.parameters], [q.name for q in system.states]
        values = {names[k]: system.values[k] + step * weight for k, weight in parameter.constants}
        # Initial values that are parameters of the study are given, also while others change.
        initial = {states[k]: system.initial[k] for varied in self.varied for k, _ in varied.starts}
        initial |= {states[k]: system.initial[k] + step * weight for k, weight in parameter.starts}
        given = {**self.values, **values}, {**self.initial, **initial}
        return _ready(self.model, *given, self.start, self.impacts, self.switching is not None)


def prepare(
    model: Model,
    parameters: Requested | None,
    values: Mapping[str, float],
    initial: Mapping[str, float],
    laws: Mapping[str, Callable[..., object]],
    start: float,
    impacts: Sequence[Impact] = (),
    in_steps: bool = False,
) -> Prepared:
    """The model with everything a study needs."""
    if not isinstance(model, System | Equations | Mechanism):
        raise TorseurError(f"a model is a mechanism, its equations or a system, not {type(model).__name__}.")
    shifts: dict[str, Shift] = {}
    mechanism = model if isinstance(model, Mechanism) else model.mechanism if isinstance(model, Equations) else None
    if mechanism is not None:
        listed = [] if parameters is None else member_names(parameters)
        require_continuous(mechanism, "a sensitivity")
        restitutions = {name: impact.restitution for impact in impacts for name in restitution_names(impact)}
        # Shifts come before the derivation: a constant that varies is a symbol in the equations like any parameter.
        changed, shifts = with_shifts(with_laws(mechanism, laws), listed, restitutions)
        model = model if changed is mechanism else derive(changed)
    ready = _ready(model, values, initial, start, _read_gaps(model, impacts), in_steps)
    return replace(ready, varied=_varied_parameters(parameters, ready.system, shifts))


def _ready(
    model: Model,
    values: Mapping[str, float],
    initial: Mapping[str, float],
    start: float,
    impacts: tuple[Impact, ...] = (),
    in_steps: bool = False,
) -> Prepared:
    # The restitution is a number of the contact, not a symbol of the equations: its shift is added here.
    shifted = [
        replace(i, restitution=i.restitution + sum(values.get(shift_name(n), 0.0) for n in restitution_names(i)))
        for i in impacts
    ]
    system = as_system(model, values, initial, shifted)
    _require_formulas(system)
    if in_steps:
        bare = system_on_constraints(without_switching(system), None, start, "augmented")
        return Prepared(model, bare, (), values, initial, start, impacts, system)
    found = system_on_constraints(system, None, start, "augmented")
    require_determined(found, start)
    return Prepared(model, found, (), values, initial, start, impacts)


def _read_gaps(model: Model, impacts: Sequence[Impact]) -> tuple[Impact, ...]:
    """The contacts with gaps that are formulas in the names of the mechanism."""
    if not impacts:
        return ()
    system = as_system(model)
    coordinates = {quantity.name for quantity in system.states[: system.coordinates]}
    return tuple(
        replace(i, gap=read_formula(i.gap, system).value) if isinstance(i.gap, str) and i.gap not in coordinates else i
        for i in impacts
    )


def member_names(parameters: Requested) -> list[str]:
    """Every name that is asked for, inside groups too."""
    # Names are only read here; without a system nothing is looked up.
    blank = System((), (), Program("nothing", (), ()), 0)
    requested = requested_names(parameters, blank)
    return list(dict.fromkeys(each for name, members in requested.items() for each in (name, *members)))


def _varied_parameters(parameters: Requested | None, system: System, shifts: Mapping[str, Shift]) -> tuple[Varied, ...]:
    names = requested_names(parameters, system)
    own = {quantity.name for quantity in system.parameters}
    shifted = {str(shift.symbol.name): name for name, shift in shifts.items() if str(shift.symbol.name) in own}
    fixed = dependent_parameters(system)
    listed = []
    for name, members in names.items():
        if parameters is None and name in shifted:
            continue
        members = whole_group(name, members, own, shifts)
        varied = varied_of(name, by_symbols(members, shifts), system, fixed)
        first = next(iter(members))
        if first in shifts:
            varied = replace(varied, value=_value(shifts[first].origin, system), meaning="")
        listed.append(varied)
    if not listed:
        raise TorseurError(
            f"{system.name} has no parameters that a criterion (--criterion) could depend on: name initial values "
            "('q1(0)') or constants ('arm.mass') with --parameters (in Python, parameters)."
        )
    return tuple(listed)


def whole_group(
    name: str, members: Mapping[str, float], own: Collection[str], shifts: Mapping[str, Shift]
) -> dict[str, float]:
    """The members of a group: of "l1=r2" both, which vary by the same amount."""
    named = name not in members and (name in own or name in shifts)
    return {name: 1.0, **members} if named else dict(members)


def by_symbols(members: Mapping[str, float], shifts: Mapping[str, Shift]) -> dict[str, float]:
    """The members by the names of the symbols that vary."""
    return {str(shifts[m].symbol.name) if m in shifts else m: weight for m, weight in members.items()}


def _value(origin: Expr, system: System) -> float:
    """What the description says of a constant, as a number."""
    assert isinstance(system.rhs, Program)
    bound: dict[Expr, float] = {}
    if system.programs is not None:
        equations = system.programs.equations
        bound = dict(zip(equations.layout.parameters, system.values, strict=True))
        (origin,) = resolve(equations.mechanism, equations.tree.definitions, [origin])
    return float(evaluate([origin], bound or {as_expr(0): 0.0})[0])


def dependent_parameters(system: System) -> dict[str, str]:
    """Why some parameters cannot vary by themselves."""
    if system.programs is None:
        return {}
    equations = system.programs.equations
    reasons = {
        str(name.name): f"follows from others ({formula}): vary these instead."
        for name, formula in equations.tree.definitions.items()
    }
    if KEPT in equations.mechanism.states:
        opened = "would leave the constraints by itself: vary parameters, which the start of this model follows."
        reasons |= dict.fromkeys((f"{state.name}(0)" for state in system.states), opened)
    return reasons


def with_laws(mechanism: Mechanism, laws: Mapping[str, Callable[..., object]]) -> Mechanism:
    """The mechanism with the functions it leaves open as formulas, traced from Python functions."""
    known = {law.name for law in mechanism.laws}
    leaves = [leaf for leaf in flatten((mechanism.loads, mechanism.constraints)) if isinstance(leaf, Expr)]
    functions = {node.data.function.name: node.data.function for node in live_nodes(leaves) if node.op == "apply"}
    missing = {name: function for name, function in functions.items() if name not in known}
    added = []
    for name, function in missing.items():
        if name not in laws:
            raise TorseurError(f"law '{name}' is undetermined: give it, e.g. laws={{'{name}': lambda ...: ...}}.")
        # A Python function is traced once with symbols: the formula it returns can be differentiated.
        arguments = tuple(symbol(f"argument {k + 1} of {name}") for k in range(function.arity))
        try:
            formula = as_expr(laws[name](*arguments))
        except (TypeError, ValueError, TorseurError) as error:
            raise TorseurError(
                f"law '{name}' cannot be differentiated ({error}). Write it with torseur.sin and the like."
            ) from error
        added.append(Law(function, arguments, formula))
    return replace(mechanism, laws=(*mechanism.laws, *added)) if added else mechanism


def _require_formulas(system: System) -> None:
    if not isinstance(system.rhs, Program):
        raise UnsupportedError(f"{system.name} is a Python function, which cannot be differentiated: give formulas.")
    if system.laws:
        names = ", ".join(f"'{law.name}'" for law in system.laws)
        raise UnsupportedError(f"{system.name}: {names} are Python functions; give them as laws of a mechanism.")
