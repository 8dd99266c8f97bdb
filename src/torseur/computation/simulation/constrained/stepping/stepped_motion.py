"""A motion in time steps: the loop bound to its mechanism, and what it leaves to be said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from torseur.algebra.graph import Program
from torseur.cache import Recent
from torseur.computation.simulation.constrained.contacts.contact_gaps import require_open_gaps, rows_of_contacts
from torseur.computation.simulation.constrained.contacts.contact_refusals import contradiction_words
from torseur.computation.simulation.constrained.contacts.contacts import CREEPING
from torseur.computation.simulation.constrained.contacts.friction_numbers import require_amounts
from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.stepping.stepping_loop import outputs_along_steps, step_through
from torseur.computation.simulation.constrained.stepping.stepping_memory import Stepping, Structure
from torseur.computation.simulation.constrained.stepping.stepping_programs import SteppingPrograms, integers
from torseur.computation.simulation.loop.integrator import Integrator, Memory
from torseur.computation.simulation.loop.routine_binding import (
    TIME_STEPPING,
    Binding,
    compile_once,
    python_event_callback,
)
from torseur.computation.simulation.model.outputs_and_events import Event, Impact, event_program, is_python
from torseur.computation.simulation.model.system import System, Vector
from torseur.computation.simulation.problem import Problem
from torseur.errors import counted

_kept_programs: Recent[SteppingPrograms] = Recent(8)

MOST_SWEEPS = 1000
MOST_MARKS = 10_000_000  # numbers in all that changes of contacts are written down with
NAMED = 12  # elements whose changes the notes count one by one


@dataclass(frozen=True, eq=False)
class SteppedMotion:
    """`system` has contacts and friction in it and names what can be asked for; `binding` is of the system without."""

    system: System
    binding: Binding
    impacts: tuple[Impact, ...]
    structure: Structure
    work: Stepping
    programs: SteppingPrograms
    events: tuple[Event, ...] = ()
    backend: str = "auto"
    notes: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Contacts, then friction elements."""
        return [*(impact.name for impact in self.impacts), *(element.name for element in self.programs.friction)]

    @property
    def labels(self) -> list[str]:
        """What each change is called among the events of the trajectory."""
        contacts = [label for impact in self.impacts for label in (impact.name, f"{impact.name} opens")]
        return contacts + [f"{e.name} {what}" for e in self.programs.friction for what in ("sticks", "slides")]

    def integrator(self) -> Integrator:
        """The loop of time steps, as the runner of loops takes it."""
        formulas = [event for event in self.events if not is_python(event)]
        functions = [event for event in self.events if is_python(event)]
        externals = {**self.binding.externals, **self.programs.externals}
        statics = self.statics | {"NG": len(self.events), "NF": len(formulas), "SOLVED": 0}
        if formulas:
            program = event_program(formulas, self.system)
            externals["stepped_events"] = program
            statics["SOLVED"] = int(needs_solution(program, self.system))
        if functions:
            externals["python_events"] = python_event_callback(functions, self.binding.system)
        loop = compile_once(step_through, statics, externals, self.backend)
        return SteppingIntegrator(loop.call, loop.backend, TIME_STEPPING, None, self.structure, self.work)

    @property
    def statics(self) -> dict[str, int]:
        return {**self.binding.statics, **self.programs.statics}

    def outputs(self, program: Program, times: Vector, states: Vector, p: Vector) -> Vector:
        """Formulas at the samples, with accelerations and multipliers of the steps that ended there."""
        size = len(program.outputs[0])
        externals = {**self.binding.externals, **self.programs.externals, "stepped_outputs": program}
        along = compile_once(outputs_along_steps, self.statics | {"NZ": size}, externals, self.backend)
        result = np.empty((len(times), size))
        along(len(times), times, states.ravel(), p, self.work.solved, result.ravel())
        return result

    def account(self, steps: int, is_counted: bool = True) -> tuple[str, ...]:
        """Notes: the steps, what switched and how often if that was counted, and what did not go as it should."""
        work, structure = self.work, self.structure
        notes = [
            f"Time steps of {structure.longest:.4g} s at most: {counted(steps, 'step')} and "
            f"{counted(work.sweeps, 'sweep')} over contacts and friction until impulses changed by less than "
            f"{structure.settled:.0e} of the fastest approach."
        ]
        notes += self._switches() if is_counted else []
        if work.unsettled:
            notes.append(
                f"In {counted(work.unsettled, 'solution')} impulses had not settled after {structure.most_sweeps} "
                f"sweeps: they still changed by {work.left:.1e} of the fastest approach. A shorter max_step may help."
            )
        if work.unforced:
            notes.append(
                f"In {counted(work.unforced, 'step')} forces that depend on speeds had not settled to ten digits: "
                "a shorter max_step follows them better."
            )
        if work.lowered:
            notes.append(
                f"In {counted(work.lowered, 'step')} less was given back than the restitution ({work.part:.3g} of it "
                "at least): with friction, all of it would have added energy."
            )
        return tuple(notes)

    def contradiction(self, t: float) -> str:
        """What is said of a contact that nothing keeps shut."""
        return contradiction_words(t, [self.impacts[self.work.contradictory - 1].name])

    def _switches(self) -> list[str]:
        names, counts = self.names, self.work.counts
        first = len(self.impacts)
        parts, totals = [], [0, 0, 0, 0]
        for k, name in enumerate(names):
            one, other = int(counts[2 * k]), int(counts[2 * k + 1])
            words = ("closed", "opened") if k < first else ("stuck", "slid")
            parts.append(f"'{name}' {words[0]} {one} and {words[1]} {other} times")
            totals[0 if k < first else 2] += one
            totals[1 if k < first else 3] += other
        if not names:
            return []
        shown = "; ".join(parts[:NAMED])
        if len(names) <= NAMED:
            return [f"Switches: {shown}."]
        return [
            f"Switches: {shown}; of all {len(names)}, contacts closed {totals[0]} and opened {totals[1]} times, "
            f"friction stuck {totals[2]} and slid {totals[3]} times."
        ]


@dataclass(frozen=True)
class SteppingIntegrator(Integrator):
    """The compiled loop of time steps with its tables and memory."""

    structure: Structure | None = None
    work: Stepping | None = None

    def call(self, work: Memory, problem: Problem) -> int:
        assert self.structure is not None and self.work is not None
        answer: int = self.loop(
            work.motion, work.y, problem.parameters, work.output, work.events, self.structure, self.work
        )
        return answer


def needs_solution(program: Program, system: System) -> bool:
    """Whether a program reads accelerations or multipliers."""
    return bool(set(system.solution) & set(program.inputs))


def stepped_motion(
    system: System, binding: Binding, t: float, step: float, settled: float, samples: int
) -> SteppedMotion:
    """Everything a motion in time steps needs, at its start; one that starts with bodies in each other is refused."""
    bare, programs = binding.system, system.programs
    assert programs is not None and bare.programs is not None
    impacts = system.constrained.impacts if system.constrained is not None else ()
    stepping = _kept_programs.get((id(programs), id(bare.programs)), partial(SteppingPrograms, programs, bare.programs))
    sizes, creep = _sizes(system, binding, impacts, t)
    tables = {
        **stepping.tables,
        "restitution": _floats([impact.restitution for impact in impacts]),
        "sizes": sizes,
        "creep": creep,
    }
    structure = Structure.bound({})(
        *(tables[name] for name in Structure.bound({}).layout().references),
        longest=step,
        settled=settled,
        most_sweeps=MOST_SWEEPS,
    )
    return SteppedMotion(system, binding, impacts, structure, _memory(stepping, samples, len(bare.states)), stepping)


def _memory(stepping: SteppingPrograms, samples: int, states: int) -> Stepping:
    tables, statics = stepping.tables, stepping.statics
    speeds, rows, lasting = len(stepping.order), statics["NR"], statics["NL"]
    elements = statics["CONTACTS"] + statics["LINES"] + statics["PLANES"]
    friction = statics["LINES"] + statics["PLANES"]
    arrays = {
        "mass": _room(tables["mass_at"][-1]),
        "damping": _room(tables["mass_at"][-1]),
        "lower": _room(tables["mass_at"][-1]),
        "rows": _room(tables["rows_at"][-1]),
        "r": _room(tables["r_at"][-1]),
        "drift": _room(lasting),
        "entries": _room(tables["first_entry"][-1]),
        "white": _room(tables["row_at"][-1]),
        "white_column": integers([0] * int(tables["row_at"][-1])),
        "white_count": integers([0] * rows),
        "product": _room(friction),
        "gaps": _room(statics["CONTACTS"]),
        "pushes": _room(statics["CONTACTS"]),
        "amounts": _room(5 * friction),
        "limits": _room(friction),
        "coefficients": _room(friction),
        "matrix": _room(statics["MOST"] ** 2),
        "residual": _room(rows),
        "unknown": integers([0] * rows),
        "slides": integers([0] * friction),
        "taking": integers([0] * statics["CONTACTS"]),
        "rubbing": integers([0] * friction),
        "state": integers([0] * (rows + statics["CONTACTS"])),
        "counts": integers([0] * (2 * elements)),
        "solved": _room(samples * (speeds + statics["MULTIPLIERS"])),
    }
    arrays |= {
        name: _room(rows) for name in ("drifts", "before", "middle", "base", "after", "target", "square", "impulses")
    }
    arrays |= {
        name: _room(speeds)
        for name in (
            "force",
            "force_before",
            "force_after",
            "more",
            "step_more",
            "impulse",
            "z_change",
            "v",
            "v_middle",
            "z",
            "v_free",
            "z_free",
            "change",
            "shifts",
        )
    }
    kind = Stepping.bound({})
    room = MOST_MARKS // (states + 2)
    return kind(*(arrays[name] for name in kind.layout().references), marks_left=room, part=1.0)


def _sizes(system: System, binding: Binding, impacts: Sequence[Impact], t: float) -> tuple[Vector, Vector]:
    """Lengths by which gaps are judged, and slips that count as none; gaps must not be negative at the start."""
    if system.constrained is None or not system.constrained.switches:
        return _room(1), _room(1)
    bare, programs = binding.system, system.constrained.programs
    assert bare.programs is not None
    functions = dict(zip([law.name for law in system.laws], binding.functions, strict=True))
    length = 1.0 if bare.constrained is None or bare.constrained.numbers is None else bare.constrained.numbers.length
    numbers = StateNumbers(programs, np.array(bare.values), functions, length)
    y = np.array(bare.initial)
    start = rows_of_contacts(numbers, t, y)
    rows = np.abs(start["rows"] * numbers.scales).max(axis=1, initial=0.0)
    first, count = bare.programs.holonomic, len(impacts)
    phi = start["phi"][first : first + count]
    sizes = np.maximum(rows[first : first + count], np.abs(phi))
    require_open_gaps(impacts, phi, sizes)
    if programs.friction:
        amounts = numbers.of(programs.rubbing, t, y, l=np.zeros(len(programs.constraints)))["amounts"]
        require_amounts(programs.friction, amounts)
    row, creep = len(rows) - sum(len(e.rows) for e in programs.friction), []
    for element in programs.friction:
        creep.append(CREEPING[1] * np.sqrt(rows[row : row + len(element.rows)].max()))
        row += len(element.rows)
    return _floats(sizes), _floats(creep)


def _floats(values: Any) -> Vector:
    array: Vector = np.array(values, dtype=float)
    return array if len(array) else np.zeros(1)


def _room(size: int) -> Vector:
    return np.zeros(max(int(size), 1))
