"""A constrained mechanism made ready for the integrators: its compile-time numbers, externals and settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torseur.computation.codegen.routine import Routine
from torseur.computation.simulation.constrained.contacts.contacts import Contacts
from torseur.computation.simulation.constrained.solver.accelerations import augmented, constrained_rhs, projector
from torseur.computation.simulation.constrained.solver.manifold import on_manifold
from torseur.computation.simulation.constrained.solver.partitioned_accelerations import is_well_partitioned, partitioned
from torseur.computation.simulation.constrained.solver.speed_partition import choose_partition, speeds_named
from torseur.computation.simulation.constrained.start.consistent_state import closed_state
from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers, is_massless
from torseur.computation.simulation.constrained.start.diagnosis import (
    ambiguous_start,
    dependence,
    flat_wheel,
    missing_inertia,
    redundancy_notes,
)
from torseur.computation.simulation.constrained.start.initial_speeds import moving_state
from torseur.computation.simulation.constrained.start.regularity import (
    other_sizes,
    regular_state,
    usual_pivots,
    usual_sizes,
)
from torseur.computation.simulation.constrained.start.shaky_loops import with_play
from torseur.computation.simulation.constrained.start.start_account import Consistent
from torseur.computation.simulation.model.force_laws import LawFunction
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.computation.simulation.model.outputs_and_events import Impact
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.loops.closure.dimension_conditions import characteristic_length
from torseur.errors import TorseurError, UnsupportedError, unknown_name

SLACK = 10.0  # tolerances that a constraint may miss others by along a motion
FORMULATIONS: dict[str, Routine] = {"augmented": augmented, "partitioned": partitioned, "projector": projector}


@dataclass(frozen=True)
class Constrained:
    """What the integrators need of a constrained mechanism.

    `given` are the names of exact initial values, `guesses` of those that may move, `independent` the speeds preferred
    by the partitioned formulation; `settings` follow the parameters of the model in p. `usual` is what each lasting
    constraint adds, 0 for those that others impose already; it changes when others are selected.
    """

    programs: MechanismPrograms
    given: Collection[str] = ()
    guesses: tuple[str, ...] = ()
    formulation: str = "augmented"
    independent: tuple[int, ...] = ()
    settings: tuple[float, ...] = ()
    massless: bool = False
    numbers: StateNumbers | None = None
    usual: Vector | None = None
    impacts: tuple[Impact, ...] = ()
    contacts: Contacts | None = None

    @property
    def switches(self) -> bool:
        """Whether there are contacts that open and close, or friction that sticks and slides."""
        return bool(self.impacts or self.programs.friction)

    @property
    def lasting(self) -> MechanismPrograms:
        """The programs without contacts that open and close."""
        return self.programs if not self.switches else MechanismPrograms(self.programs.equations)

    @property
    def is_partitioned(self) -> bool:
        return self.formulation == "partitioned"

    # Which mechanisms these are: docs/decisions/0084-loops-eliminated-with-their-bodies.md.
    @property
    def is_recursive(self) -> bool:
        """Whether bodies and loops are eliminated one after the other, and M and C never formed."""
        is_regular = not (self.massless or self.switches or self.is_partitioned)
        return is_regular and self.programs.is_eliminated

    @property
    def statics(self) -> dict[str, int]:
        own = {"MASSLESS": int(self.massless), "PARTITIONED": int(self.is_partitioned)}
        if self.contacts is not None:
            own["NW"] = self.contacts.watched - len(self.impacts)
        if self.is_recursive:
            own |= {"RECURSIVE": 1, "MV": 0, "MC": 0, "NFACTORS": self.programs.elimination.count}
        return {**self.programs.statics, **own}

    @property
    def externals(self) -> dict[str, Any]:
        programs = self.programs
        own: dict[str, Any] = {
            "rhs": constrained_rhs,
            "accelerated": FORMULATIONS[self.formulation],
            "constrain": on_manifold,
            "displaced": programs.displaced,
            "normalised": programs.normalised,
            "is_regular": is_well_partitioned,
            "gaps": programs.gaps,
        }
        if programs.friction:
            own["rubbing"] = programs.rubbing
        if self.is_recursive:
            return own | programs.elimination.externals
        names = ("dynamics", "positions", "velocities")
        return own | {name: getattr(programs, name) for name in names}

    @property
    def sizes(self) -> Vector:
        """Squares of what each constraint usually adds: 0 when it is not selected, -1 for open contacts."""
        assert self.usual is not None
        squares: Vector = self.usual**2
        return squares if self.contacts is None else self.contacts.sizes

    @property
    def play(self) -> Vector:
        """What each constraint is left open by, contacts among them."""
        assert self.numbers is not None
        given = self.numbers.play
        return self.with_contacts(np.zeros(len(self.lasting.constraints)) if given is None else given)

    @property
    def slack(self) -> Vector:
        """By how much each constraint may miss what others impose already, contacts among them."""
        assert self.numbers is not None
        # Dimensions that are rounded leave gaps that change along the motion: more is left than at the start.
        return self.with_contacts(SLACK * self.numbers.tolerances * self.numbers.row_scales)

    def with_contacts(self, lasting: Vector) -> Vector:
        """Numbers of the lasting constraints with zeros for contacts, behind the holonomic ones, and friction, last."""
        holonomic = self.lasting.holonomic
        none, rubbing = np.zeros(len(self.impacts)), np.zeros(self.programs.statics["NT"])
        return np.concatenate([lasting[:holonomic], none, lasting[holonomic:], rubbing])

    @property
    def is_redundant(self) -> bool:
        """Whether there are more lasting constraints than are selected."""
        return self.usual is not None and not np.all(self.usual > 0.0)

    def reselect(self, t: float, y: Vector) -> bool:
        """Selects other constraints where those in use have become a bad choice; false when there is no better one."""
        assert self.numbers is not None and self.usual is not None
        other = other_sizes(self.numbers, t, y, self.usual)
        if other is not None:
            self.usual[:] = usual_pivots(self.numbers, t, y, other) if self.is_recursive else other
        return other is not None

    def partitioned(self, t: float, y: Vector) -> tuple[list[float], str]:
        """The settings of the partition chosen for a state, and what is said about it."""
        assert self.numbers is not None and self.usual is not None
        selection = np.flatnonzero(self.usual > 0.0).tolist()
        state = regular_state(self.numbers, t, y, selection)
        numbers = self.numbers if self.contacts is None else self.contacts.numbers
        chosen = choose_partition(numbers, t, state, self.independent, np.flatnonzero(self.sizes > 0.0).tolist())
        names = self.programs.equations.layout.speed_names
        listing = ", ".join(f"'{names[k]}'" for k in chosen.independent)
        settings = chosen.settings(len(self.programs.constraints))
        return settings, f"Independent speeds from t = {t:.6g} s on: {listing or 'none'}."


def formulation_named(name: str) -> str:
    """The name of a formulation, when there is one."""
    if name not in FORMULATIONS:
        raise TorseurError(unknown_name("formulation", name, FORMULATIONS))
    return name


def at_start(
    constrained: Constrained,
    parameters: Vector,
    laws: Mapping[str, LawFunction],
    t: float,
    y: Vector,
    independent: Sequence[str] = (),
) -> tuple[Constrained, Consistent]:
    """The state on the constraints where the motion starts, and the settings that follow from it."""
    base = constrained.lasting
    size = mechanism_size(base, parameters)
    numbers = StateNumbers(base, parameters, laws, size, guesses=constrained.guesses)
    try:
        numbers, closed = with_play(numbers, t, closed_state(numbers, t, y, constrained.given))
    except TorseurError:
        _require(numbers, flat_wheel(numbers, t, y))
        raise
    start = moving_state(numbers, t, closed, y, constrained.given)
    _require(numbers, missing_inertia(numbers, t, start.y))
    usual = usual_sizes(numbers, t, start.y)
    _require(numbers, ambiguous_start(numbers, usual, t, start.y))
    start = replace(start, notes=(*start.notes, *redundancy_notes(numbers, dependence(numbers, t, start.y, usual))))
    ready = replace(
        constrained,
        massless=is_massless(numbers.mass(t, start.y)),
        numbers=numbers,
        usual=usual,
        independent=tuple(speeds_named(numbers, independent)),
    )
    if ready.is_recursive:
        ready = replace(ready, usual=usual_pivots(numbers, t, start.y, usual))
    contacts, at_rest = _contacts(ready, numbers, t, start.y)
    ready, start = replace(ready, contacts=contacts), replace(start, y=at_rest)
    nothing_held = [0.0] * (1 + len(numbers.scales))
    switching = () if contacts is None else (*contacts.sliding, *contacts.creep, contacts.grip, *contacts.thickness)
    settings = (*numbers.scales, *ready.sizes, *switching, *ready.play, *ready.slack, *nothing_held)
    if not constrained.is_partitioned:
        return replace(ready, settings=settings), start
    partition, note = ready.partitioned(t, start.y)
    return replace(ready, settings=(*settings, *partition)), replace(start, notes=(*start.notes, note))


def _require(numbers: StateNumbers, problem: str | None) -> None:
    if problem is not None:
        raise TorseurError(f"{numbers.equations.mechanism.name}: {problem}")


def _contacts(constrained: Constrained, lasting: StateNumbers, t: float, y: Vector) -> tuple[Contacts | None, Vector]:
    """The contacts and the friction as they are at the start, and the state in which what sticks is at rest."""
    if not constrained.switches:
        return None, y
    if constrained.is_partitioned and constrained.programs.friction:
        raise UnsupportedError(
            f"friction '{constrained.programs.friction[0].name}': the partitioned formulation does not cover dry "
            "friction. Choose 'augmented' or 'projector'."
        )
    assert constrained.usual is not None
    numbers = replace(lasting, programs=constrained.programs)
    first, friction = lasting.programs.holonomic, constrained.programs.friction
    contacts = Contacts(constrained.impacts, numbers, constrained.usual, first, set(), friction)
    return contacts, contacts.start(t, y)


def mechanism_size(programs: MechanismPrograms, parameters: Vector) -> float:
    """The largest offset between joints, in metres."""
    known = dict(zip(programs.equations.layout.parameters, parameters.tolist(), strict=True))
    return characteristic_length(programs.equations.mechanism, known)
