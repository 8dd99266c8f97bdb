"""The equations of a mechanism as a first order system: y = (q, v), y' = (rates, accelerations)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from torseur.algebra.graph import Expr, Input, Program, as_expr, vector
from torseur.algebra.graph.scalar import sqrt
from torseur.cache import Recent
from torseur.computation.simulation.constrained.constraint_quantities import ConstrainedQuantities
from torseur.computation.simulation.constrained.contacts.contact_gaps import (
    contact_equations,
    mechanism_impacts,
    switching_elements,
)
from torseur.computation.simulation.constrained.contacts.friction_rows import friction_rows
from torseur.computation.simulation.constrained.solver.constrained_setup import Constrained
from torseur.computation.simulation.constrained.start.start_account import tree_account, unstated_notes
from torseur.computation.simulation.model.initial_state import initial_state, stated_values
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.computation.simulation.model.named_quantities import NamedQuantities, quantity_of_symbol
from torseur.computation.simulation.model.outputs_and_events import Impact
from torseur.computation.simulation.model.singular_mass import explain_singular, undetermined_states
from torseur.computation.simulation.model.system import Law, System
from torseur.derivation.dynamics.loads.sensor_values import in_states
from torseur.derivation.equations import Equations, motion_values
from torseur.derivation.formalisms import derive
from torseur.derivation.tree import with_stated
from torseur.description.mechanism import TIME, DryFriction, Mechanism, require_mechanism
from torseur.errors import UnsupportedError

Model: TypeAlias = System | Equations | Mechanism

kept_systems: Recent[tuple[Model, Equations, System]] = Recent(16)
_kept_contacts: Recent[tuple[Equations, MechanismPrograms]] = Recent(8)
_kept_stated: Recent[tuple[Mechanism, Mechanism]] = Recent(16)


def as_system(
    model: Model,
    parameters: Mapping[str, float] | None = None,
    initial: Mapping[str, float] | None = None,
    impacts: Sequence[Impact] = (),
) -> System:
    """The system of a mechanism or of equations, or a system itself, with the given values in place of its own.

    A mechanism is derived by the recursive formalism.
    """
    if isinstance(model, System):
        if impacts:
            raise UnsupportedError(
                f"impact '{impacts[0].name}': {model.name} is not a mechanism. Use Event(..., reset=...) instead."
            )
        values, state = model.parameters_with(parameters), model.state_with(initial)
        return replace(model, values=tuple(values.tolist()), initial=tuple(state.tolist()))
    if not isinstance(model, Equations):
        require_mechanism(model)
        model = _with_stated(model, tuple(initial or ()))
    equations, system = system_without_values(model)
    given = motion_values(equations, parameters or {})
    own = mechanism_impacts(equations, given)
    if switching_elements(equations) or impacts:
        system = _with_contacts(equations, system, (*own, *impacts))
    start = initial_state(equations, given, initial or {})
    exact, guesses = stated_values(equations.mechanism, initial or {})
    if equations.coupled_states is not None:
        system = replace(system, undetermined=partial(undetermined_states, equations, given))
    if system.constrained is not None:
        constrained = replace(system.constrained, given=exact, guesses=guesses)
        return replace(system, values=tuple(given.values()), initial=start, constrained=constrained)
    explain = partial(explain_singular, equations, given)
    notes = unstated_notes(tree_account(equations, start, exact, guesses))
    return replace(system, values=tuple(given.values()), initial=start, explain=explain, notes=notes)


def _with_stated(mechanism: Mechanism, names: tuple[str, ...]) -> Mechanism:
    """The mechanism whose state has what initial values name; the same one for the same names."""

    def make() -> tuple[Mechanism, Mechanism]:
        return mechanism, with_stated(mechanism, names)

    return _kept_stated.get((id(mechanism), names), make)[1] if names else mechanism


def system_without_values(model: Equations | Mechanism) -> tuple[Equations, System]:
    """What does not depend on values, kept for the last few models, each known by its identity."""

    def make() -> tuple[Model, Equations, System]:
        equations = derive(model) if isinstance(model, Mechanism) else model
        return model, equations, _without_values(equations)

    # The model stands in what is kept and lives as long, so that no other object can get its id meanwhile.
    return kept_systems.get(id(model), make)[1:]


def _without_values(equations: Equations) -> System:
    layout = equations.layout
    states = (*layout.coordinates, *layout.speeds)
    programs = MechanismPrograms(equations)
    common = System(
        states=tuple(quantity_of_symbol(x) for x in states),
        initial=(0.0,) * len(states),
        rhs=Program("still", (), ()),
        coordinates=len(layout.coordinates),
        parameters=tuple(quantity_of_symbol(p) for p in layout.parameters),
        values=(0.0,) * len(layout.parameters),
        quantities=NamedQuantities(programs),
        programs=programs,
        resolve=partial(in_states, equations.tree),
        name=equations.mechanism.name,
    )
    return _constrained_system(equations, common) if equations.is_constrained else _open(equations, common)


def _open(equations: Equations, common: System) -> System:
    layout = equations.layout
    states = (*layout.coordinates, *layout.speeds)
    inputs = [Input("t", (TIME,)), Input("y", states), Input("p", layout.parameters)]
    if equations.undetermined:
        inputs.append(Input("u", equations.undetermined))
    derivatives = vector("dy", [*equations.rates, *equations.acceleration])
    return replace(
        common,
        rhs=Program("rhs", tuple(inputs), (derivatives,)),
        laws=_laws(equations.undetermined),
        project=_projection(equations, states),
    )


def _constrained_system(equations: Equations, common: System) -> System:
    programs = common.programs
    assert programs is not None
    return _saddle_point_system(replace(common, constrained=Constrained(programs)), programs)


def _saddle_point_system(common: System, programs: MechanismPrograms) -> System:
    """A system whose accelerations follow at each state together with multipliers."""
    return replace(
        common,
        rhs=programs.dynamics,
        laws=_laws(programs.undetermined),
        solution=programs.solution,
        quantities=ConstrainedQuantities(programs),
        project=None,
    )


def system_with_accelerations(equations: Equations) -> System:
    """The system whose formulas keep accelerations and multipliers as inputs of their own, loops or not."""
    system = system_without_values(equations)[1]
    assert system.programs is not None
    return _saddle_point_system(system, system.programs)


def system_at_rest(system: System) -> System:
    """The system of a mechanism without freedoms whose constraints hold: it has no states, and none change."""
    assert system.programs is not None
    rhs = Program("rhs", system.programs.inputs, (vector("dy", []),))
    return replace(system, rhs=rhs, constrained=None, solution=(), quantities=NamedQuantities(system.programs))


def _with_contacts(equations: Equations, common: System, impacts: tuple[Impact, ...]) -> System:
    """The system with a constraint for each contact that may close."""
    key = (id(equations), tuple((impact.name, impact.gap) for impact in impacts))
    programs = _kept_contacts.get(key, lambda: (equations, _contact_programs(equations, impacts)))[1]
    constrained = Constrained(programs, impacts=impacts)
    return _saddle_point_system(replace(common, programs=programs, constrained=constrained), programs)


def _contact_programs(equations: Equations, impacts: tuple[Impact, ...]) -> MechanismPrograms:
    resolve = partial(in_states, equations.tree)
    rubbing = [element for element in switching_elements(equations) if isinstance(element, DryFriction)]
    return MechanismPrograms(
        equations, contact_equations(equations, impacts, resolve), friction_rows(equations, rubbing, resolve), impacts
    )


def without_switching(system: System) -> System:
    """The system of a mechanism, with its values, without contacts that open and close and friction that sticks."""
    if system.programs is None:
        raise UnsupportedError(f"{system.name} is not a mechanism: time steps need one. Choose method='auto'.")
    bare = system_without_values(system.programs.equations)[1]
    constrained = bare.constrained
    if constrained is not None and system.constrained is not None:
        constrained = replace(constrained, given=system.constrained.given, guesses=system.constrained.guesses)
    return replace(
        bare,
        values=system.values,
        initial=system.initial,
        constrained=constrained,
        explain=system.explain,
        notes=system.notes,
    )


def _laws(nodes: Sequence[Expr]) -> tuple[Law, ...]:
    return tuple(Law(node.data.name, node) for node in nodes)


def _projection(equations: Equations, states: tuple[Expr, ...]) -> Program | None:
    """The state with every quaternion brought back to length one; None when there is none."""
    unit = {x: x for x in states}
    for quaternion in [link.symbols.quaternion for link in equations.tree.links if link.symbols.quaternion]:
        # The rates of a quaternion are tangent to the unit sphere; the steps of an integrator leave it by their error.
        length = sqrt(sum((x * x for x in quaternion), as_expr(0)))
        unit |= {x: x / length for x in quaternion}
    if all(unit[x] is x for x in states):
        return None
    return Program("project", (Input("y", states),), (vector("out", [unit[x] for x in states]),))
