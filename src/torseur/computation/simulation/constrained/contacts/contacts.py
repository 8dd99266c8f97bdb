"""Contacts that open and close and friction that sticks and slides: which, and what happens when one changes.

An open contact is a constraint that is switched off, and so is friction that slides; its force is given instead. At an
impact with restitution e, the rates G v of the gaps that close become -e G v, by impulses along them, and across them
as far as friction goes, that leave all other constraints as they are:

    [M Cᵀ; C 0] [v₊; μ] = [M v; c],   c = 0 for constraints and closed contacts, -e G v for those that are hit
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from torseur.computation.simulation.constrained.contacts.contact_gaps import (
    TOUCHING,
    require_open_gaps,
    rows_of_contacts,
    slow_rates,
)
from torseur.computation.simulation.constrained.contacts.contact_refusals import (
    refuse_contradiction,
    refuse_endless,
    refuse_jamming,
    refuse_modes,
)
from torseur.computation.simulation.constrained.contacts.friction_numbers import FrictionNumbers, require_amounts
from torseur.computation.simulation.constrained.contacts.friction_rows import FrictionRows
from torseur.computation.simulation.constrained.contacts.switching_modes import (
    CLOSED,
    CONTRADICTED,
    FEW_SWEEPS,
    OPEN,
    SLIDES,
    STICKS,
    ModeProblem,
    Modes,
    Resolver,
    Solution,
    nearest_solution,
    relax,
)
from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.regularity import sizes_added, whitened
from torseur.computation.simulation.model.outputs_and_events import Impact
from torseur.computation.simulation.model.system import Vector
from torseur.errors import SimulationError

THICKNESS = 1e-12  # of the layer in which a contact closes, in units of the gap's own size, see `_sizes_of_gaps`
ABOVE_ROUNDING = 1e-14
ROUNDING = 1e-9  # part of the speed of rest by which two contacts that are one may approach when one of them rests
FLYING = 1e-6  # part of the speed of rest that a rebound has at least
RESTING = 1e-6  # rate of a gap that ends in contact, where a unit move adds 1 m or 1 rad to it
CREEPING = (1e-11, 1e-6)  # the same for sliding speeds along a line, and in a plane
MOST_AT_ONCE = 200  # changes of contacts at one time
GAINED = 1e-12  # part of the kinetic energy that an impact may add: rounding
GRIP = 1e-9  # part of the contact forces by which one may pull: the share of a redundant one is rounding
REFINED = 4  # solutions of modes with what presses from the one before


@dataclass
class Contacts:
    """The contacts and the friction of one motion. `numbers` knows all constraints; contact k is row first + k.

    `lasting` is what the lasting constraints usually add; `gap_sizes` are lengths or angles by which gaps are judged
    small, `rest_speeds` their rates that end in contact. `struck` are contacts that the motion starts with an impact
    on. `pushed` are the rows along which the last change had impulses, `rubbed` the elements that slid in it, and
    `rebounding` the restitution of each contact that was hit; `is_bounded` where impulses came from relaxation, or from
    a rebound reduced to keep the energy. `fastest` closed when `changes` began to count. `stuck` are rows of friction
    that hold, `sliding` the directions of those that do not: of length 2 for elements in a plane that are faster than
    creeping. `modes` says what each friction element does; `grip` is a force that counts as none.
    """

    impacts: tuple[Impact, ...]
    numbers: StateNumbers
    lasting: Vector
    first: int
    closed: set[int]
    friction: tuple[FrictionRows, ...] = ()
    gap_sizes: Vector = field(default_factory=lambda: np.ones(0))
    rest_speeds: Vector = field(default_factory=lambda: np.ones(0))
    creep: Vector = field(default_factory=lambda: np.ones(0))
    struck: tuple[int, ...] = ()
    changes: int = 0
    last_time: float = -np.inf
    fastest: float = 0.0
    pushed: tuple[int, ...] = ()
    rubbed: tuple[int, ...] = ()
    is_bounded: bool = False
    rebounding: dict[int, float] = field(default_factory=dict)
    stuck: set[int] = field(default_factory=set)
    sliding: Vector = field(default_factory=lambda: np.zeros(0))
    modes: tuple[str, ...] = ()
    sizes: Vector = field(default_factory=lambda: np.zeros(0))
    notes: list[str] = field(default_factory=list)
    grip: float = 0.0

    @property
    def rubbing(self) -> FrictionNumbers:
        return FrictionNumbers(self.friction, self.impacts, self.numbers, self.first)

    @property
    def watched(self) -> int:
        """Number of event functions: contacts, friction, and one for friction that jams."""
        return len(self.impacts) + len(self.friction) + int(any(element.depends for element in self.friction))

    @property
    def usual(self) -> Vector:
        """What each lasting constraint usually adds; 0 for contacts, behind the holonomic ones, and friction, last."""
        none, rubbing = np.zeros(len(self.impacts)), np.zeros(self.rubbing.count)
        return np.concatenate([self.lasting[: self.first], none, self.lasting[self.first :], rubbing])

    @property
    def thickness(self) -> Vector:
        """Depth at which each contact closes: far above rounding, far below anything else."""
        return THICKNESS * self.gap_sizes

    def start(self, t: float, y: Vector) -> Vector:
        """Finds what is closed, struck or stuck at the start, and the state in which it is; one inside is refused."""
        gaps, rates = self._gaps(t, y)
        self.gap_sizes = np.maximum(self._sizes_of_gaps(t, y), np.abs(gaps))
        touching = np.abs(gaps) <= TOUCHING * self.gap_sizes
        require_open_gaps(self.impacts, gaps, self.gap_sizes)
        require_amounts(self.friction, self.rubbing.at(t, y, np.zeros(len(self.usual)))["amounts"])
        self.rest_speeds = self._speeds_of_rest(t, y)
        slow = np.abs(rates) <= self.rest_speeds
        self.closed = {k for k in range(len(gaps)) if touching[k] and slow[k]}
        self.struck = tuple(k for k in range(len(gaps)) if touching[k] and not slow[k] and rates[k] < 0.0)
        self.sliding = np.zeros(self.rubbing.count)
        return self._choose_modes(t, y, self.closed, set())

    def _sizes_of_gaps(self, t: float, y: Vector) -> Vector:
        """What each gap is a difference of: its terms by the coordinates, or what a move by the mechanism's size adds.

        Rounding is in proportion to it: a gap at an angle is judged in radians, and one far from the origin by its
        distance from there.
        """
        if not self.impacts:
            return np.zeros(0)
        programs, count = self.numbers.programs, self.numbers.coordinates
        terms = np.abs(self.numbers.of(programs.gap_gradients, t, y)["gradients"]) @ np.abs(y[:count])
        sizes: Vector = np.maximum(terms, self._unit_moves(t, y)[self.first : self.first + len(self.impacts)])
        return sizes

    def _unit_moves(self, t: float, y: Vector) -> Vector:
        """What a move by 1 rad or the size of the mechanism adds to each constraint."""
        rows = self.numbers.of(self.numbers.programs.velocities, t, y)["rows"] * self.numbers.scales
        sizes: Vector = np.abs(rows).max(axis=1, initial=0.0)
        return sizes

    def _speeds_of_rest(self, t: float, y: Vector) -> Vector:
        """As given, or by size: what falls through a length L arrives with √(2 g L), so speeds go with the root."""
        moves = np.sqrt(self._unit_moves(t, y))
        usual = RESTING * moves[self.first : self.first + len(self.impacts)]
        chosen = [impact.rest_speed for impact in self.impacts]
        rows = self.rubbing.rows
        self.creep = np.array([CREEPING[len(r) - 1] * moves[r].max() for r in rows])
        return np.array([speed if one is None else one for one, speed in zip(chosen, usual, strict=True)])

    def change(self, t: float, y: Vector, fired: Sequence[int]) -> Vector:
        """The state after contacts have hit or let go, or friction has stuck or slipped."""
        gaps, rates = self._gaps(t, y)
        self._count(t, float(-rates.min(initial=0.0)))
        self.pushed, self.rubbed, self.rebounding, self.is_bounded = (), (), {}, False
        count = len(self.impacts)
        if count + len(self.friction) in fired:
            refuse_jamming(t, [e.name for e, mode in zip(self.friction, self.modes, strict=True) if mode == SLIDES])
        letting_go = [k for k in fired if k in self.closed]
        lasting = self.closed - set(letting_go)
        near = gaps <= TOUCHING * self.gap_sizes
        closing = rates < -ROUNDING * self.rest_speeds
        hit = [k for k in range(count) if k not in lasting and near[k] and closing[k]]
        # Besides what fired, what is within its layer at the same instant is hit too: impulses on one act on the other.
        hit = [k for k in hit if k in fired or gaps[k] <= self.thickness[k]]
        slipping = {k - count for k in fired if k >= count and self.modes[k - count] == STICKS}
        if hit:
            y = self._rebound(t, y, hit, rates, lasting)
        else:
            y = self._above_layer(t, y, [k for k in fired if k < count and k not in letting_go], lasting)
        return self._choose_modes(t, y, lasting, slipping)

    def flight_time(self, t: float, y: Vector) -> float:
        """About how long the shortest of the gaps that are opening stays open; infinite when none closes again."""
        if not self.impacts:
            return np.inf
        found = self.numbers.of(self.numbers.programs.dynamics, t, y)
        active = self._active(self.closed)
        problem = ModeProblem(self._mass(t, y), found["force"], found["rows"], found["gamma"], ())
        a = nearest_solution(problem, active)
        gaps, rates = self._gaps(t, y)
        bending = (found["rows"] @ a - found["gamma"])[self.first : self.first + len(self.impacts)]
        near = np.abs(gaps) <= TOUCHING * self.gap_sizes
        # What a stop lets go of leaves without a speed, but for rounding: that is no flight, and no step is as short.
        flying = near & (rates > FLYING * self.rest_speeds) & (bending < 0.0)
        return float(np.min(2 * rates[flying] / -bending[flying], initial=np.inf))

    def _active(self, closed: set[int]) -> list[int]:
        """Rows of lasting constraints and of contacts that hold."""
        usual = self.usual
        return [r for r in range(len(usual)) if usual[r] > 0.0 or r - self.first in closed]

    @property
    def _names(self) -> list[str]:
        return [*(impact.name for impact in self.impacts), *(element.name for element in self.friction)]

    def _count(self, t: float, fastest: float) -> None:
        """Refuses contacts that change for ever at one time, and are not coming to rest while they do."""
        # Impulses on one contact may hit another and back, each time less by a few per cent: that ends.
        is_same = t - self.last_time <= 1e-12 * max(1.0, abs(t)) and fastest > 0.5 * self.fastest
        self.changes = self.changes + 1 if is_same else 1
        self.fastest = self.fastest if is_same else fastest
        self.last_time = t
        if self.changes > MOST_AT_ONCE:
            refuse_endless(t, self._names)

    # Impacts

    def _rebound(self, t: float, y: Vector, hit: list[int], rates: Vector, lasting: set[int]) -> Vector:
        back = {k: self.impacts[k].restitution * -rates[k] for k in hit}
        staying = [k for k in hit if back[k] < self.rest_speeds[k]]
        self.rebounding = {k: 0.0 if k in staying else self.impacts[k].restitution for k in hit}
        wanted = {k: 0.0 if k in staying else back[k] for k in hit}
        count, mass = self.numbers.coordinates, self._mass(t, y)
        before = y[count:]
        after = self._after_impulses(t, y, wanted, lasting)
        left = self._gaps(t, np.concatenate([y[:count], after]))[1] < CONTRADICTED * rates[hit].min()
        refuse_contradiction(t, [self.impacts[k].name for k in (*hit, *lasting) if left[k]])
        moving = self.numbers.of(self.numbers.programs.velocities, t, y)["drift"]
        energy = before @ mass @ before
        # Constraints that move by themselves may add energy: there is no balance to keep then.
        if not np.any(moving) and after @ mass @ after > energy * (1.0 + GAINED):
            self.is_bounded = True
            # Newton's restitution with friction can add energy (Kane); then less is given back, as much as keeps it.
            low, high = 0.0, 1.0
            for _ in range(60):
                part = 0.5 * (low + high)
                after = self._after_impulses(t, y, {k: part * rate for k, rate in wanted.items()}, lasting)
                low, high = (part, high) if after @ mass @ after <= energy else (low, part)
            after = self._after_impulses(t, y, {k: low * rate for k, rate in wanted.items()}, lasting)
            names = ", ".join(f"'{self.impacts[k].name}'" for k in hit)
            self.notes.append(
                f"At t = {t:.6g} s the impact on {names} gave back {low:.3g} of its restitution: with friction, all of "
                "it would have added energy."
            )
        new = y.copy()
        new[count:] = after
        return new

    def _after_impulses(self, t: float, y: Vector, wanted: dict[int, float], lasting: set[int]) -> Vector:
        """Speeds after impulses that make gap rates what is wanted, at least, and zero at least where they touch."""
        found = self.numbers.of(self.numbers.programs.velocities, t, y)
        v, mass = y[self.numbers.coordinates :], self._mass(t, y)
        target = -found["drift"]
        for k, rate in wanted.items():
            target[self.first + k] += rate
        touching = [k for k in range(len(self.impacts)) if k in wanted or k in lasting]
        elements = self.rubbing.at_impact(t, y, touching)
        lasting_rows, rows = tuple(np.flatnonzero(self.usual > 0.0).tolist()), tuple(self.first + k for k in touching)
        problem = ModeProblem(mass, mass @ v, found["rows"], target, lasting_rows, rows, tuple(elements))
        start = Modes((CLOSED,) * len(touching), (STICKS,) * len(elements), tuple(e.guess for e in elements))
        resolver = Resolver(problem)
        solution = resolver.resolve(start)
        if solution is None:
            found_slowly = relax(problem)
            if found_slowly is None:
                raise SimulationError(
                    f"no impulses agree with all contacts and friction at t = {t:.9g} s. Choose method='time_stepping'."
                )
            self.is_bounded = True
            return found_slowly.x
        self.pushed = tuple(sorted(resolver.independent_rows(solution.modes)))
        sliding = [e.rows for e, mode in zip(elements, solution.modes.friction, strict=True) if mode == SLIDES]
        self.rubbed = tuple(k for k, rows in enumerate(self.rubbing.rows) if tuple(rows) in sliding)
        return solution.x

    # Modes

    def _choose_modes(self, t: float, y: Vector, closed: set[int], slipping: set[int]) -> Vector:
        """Takes modes that agree with the accelerations they lead to, and the speeds that what sticks leaves.

        `closed` are contacts that were closed before, `slipping` friction elements whose limit was just reached.
        """
        found = self.numbers.of(self.numbers.programs.dynamics, t, y)
        gaps, rates = self._gaps(t, y)
        springs = [self.rebounding.get(k, 0.0) > 0.0 or i.rest_speed is not None for k, i in enumerate(self.impacts)]
        slow = slow_rates(self._mass(t, y), found, self.first, self.rest_speeds, self.thickness, springs)
        near = (gaps <= TOUCHING * self.gap_sizes) & (np.abs(rates) <= slow)
        touching = np.flatnonzero(near).tolist()
        problem = ModeProblem(
            self._mass(t, y), found["force"], found["rows"], found["gamma"], tuple(np.flatnonzero(self.usual > 0.0)),
            tuple(self.first + k for k in touching), (),
        )  # fmt: skip
        # A contact that stays after an impact begins closed; one that has just let go does not.
        hit = {k for k in touching if k in self.rebounding}
        contacts = tuple(CLOSED if k in closed or k in hit else OPEN for k in touching)
        multipliers, solution, resolver = np.zeros(len(self.usual)), None, None
        for _ in range(REFINED if self.friction else 1):
            elements = self.rubbing.now(t, y, multipliers, self.creep, slipping)
            resolver = Resolver(replace(problem, friction=elements))
            modes = tuple(STICKS if e.direction is None else SLIDES for e in elements)
            begun = resolver.consistent(Modes(contacts, modes, tuple(e.guess for e in elements)))
            # Relaxation is slower than the search near what was, and faster than trying all modes in turn.
            solution = resolver.resolve(begun, exhaustive=False)
            if solution is None:
                slowly = relax(resolver.problem, FEW_SWEEPS)
                solution = resolver.resolve(begun if slowly is None else resolver.consistent(slowly.modes))
            if solution is None:
                refuse_modes(t, self._names)
            assert solution is not None
            settled = np.allclose(solution.multipliers, multipliers, rtol=1e-12, atol=0.0)
            multipliers = solution.multipliers
            if settled:
                break
        assert solution is not None and resolver is not None
        return self._take(t, y, touching, resolver, solution)

    def _take(self, t: float, y: Vector, touching: Sequence[int], resolver: Resolver, solution: Solution) -> Vector:
        """Takes over modes; what sticks comes to rest exactly."""
        held = set(resolver.independent_rows(solution.modes))
        self.closed = {
            k for k, mode in zip(touching, solution.modes.contacts, strict=True)
            if mode == CLOSED and self.first + k in held
        }  # fmt: skip
        self.modes, self.stuck, self.sliding = solution.modes.friction, set(), np.zeros(self.rubbing.count)
        for k, rows in enumerate(self.rubbing.rows):
            if self.modes[k] == STICKS:
                self.stuck |= set(rows) & held
            elif self.modes[k] == SLIDES:
                fast = 2.0 if len(rows) == 2 and resolver.problem.friction[k].direction is not None else 1.0
                self.sliding[self.rubbing.places(k)] = fast * solution.modes.directions[k]
        own = [self.first + k for k in self.closed]
        self.grip = GRIP * float(np.abs(solution.multipliers[own]).max(initial=0.0))
        active = sorted({*np.flatnonzero(self.usual > 0.0).tolist(), *own, *self.stuck})
        self.sizes = self._sizes_in_force(t, y, active)
        return self._at_rest(t, y, active) if self.stuck else y

    def _sizes_in_force(self, t: float, y: Vector, active: Sequence[int]) -> Vector:
        """Settings of the solver: squares of what each constraint adds, -1 for what is switched off."""
        usual = self.usual
        squares: Vector = usual**2
        switched = [r for r in range(len(usual)) if self._switches(r)]
        # First all are switched off, then those in force get what they add.
        squares[switched] = -1.0
        changing = [r for r in active if self._switches(r)]
        if changing:
            added = sizes_added(whitened(self.numbers, t, y), active) * self.numbers.row_scales
            squares[changing] = added[changing] ** 2
        return squares

    def _switches(self, row: int) -> bool:
        is_contact = self.first <= row < self.first + len(self.impacts)
        return is_contact or row >= len(self.usual) - self.rubbing.count

    def _at_rest(self, t: float, y: Vector, active: list[int]) -> Vector:
        """The state with the speeds of what sticks, which are below creeping, at zero."""
        found = self.numbers.of(self.numbers.programs.velocities, t, y)
        v = y[self.numbers.coordinates :]
        missing = -(found["rows"][active] @ v + found["drift"][active])
        new = y.copy()
        new[self.numbers.coordinates :] += self._smallest_move(t, y, active, missing)
        return new

    def _above_layer(self, t: float, y: Vector, opening: list[int], lasting: set[int]) -> Vector:
        """The state with contacts that are opening, but have been found closed again, just out of their layer.

        After a slow rebound a gap grows by less than rounding at first, and would be found closed for ever. Lifting all
        that rebound would keep them from coming to rest: what they fall in addition exceeds their rest_speed.
        """
        if not opening:
            return y
        gaps, _ = self._gaps(t, y)
        out = {k: (ABOVE_ROUNDING - THICKNESS) * self.gap_sizes[k] - gaps[k] for k in opening}
        # What holds must not move while the gap is lifted by its rounding; one that closes together with it, such as
        # a stop that is said twice, takes that with it.
        for others in (lasting, set[int]()):
            active = self._active(others | set(out))
            target = np.array([out.get(r - self.first, 0.0) for r in active])
            lifted = self.numbers.moved(t, y, self._smallest_move(t, y, active, target) / self.numbers.scales)
            if np.all(self._gaps(t, lifted)[0][list(out)] > -self.thickness[list(out)]):
                break
        return lifted

    def _mass(self, t: float, y: Vector) -> Vector:
        lower = self.numbers.of(self.numbers.programs.positions, t, y)["mass"]
        full: Vector = lower + np.tril(lower, -1).T
        return full

    def _smallest_move(self, t: float, y: Vector, rows: list[int], change: Vector) -> Vector:
        """The smallest move, in the mass metric, that changes the given rows by given amounts."""
        all_rows = self.numbers.of(self.numbers.programs.velocities, t, y)["rows"]
        target = np.zeros(len(all_rows))
        target[rows] = change
        return nearest_solution(ModeProblem(self._mass(t, y), np.zeros(all_rows.shape[1]), all_rows, target, ()), rows)

    def _gaps(self, t: float, y: Vector) -> tuple[Vector, Vector]:
        found = rows_of_contacts(self.numbers, t, y)
        own = slice(self.first, self.first + len(self.impacts))
        return found["phi"][own], (found["rows"] @ y[self.numbers.coordinates :] + found["drift"])[own]
