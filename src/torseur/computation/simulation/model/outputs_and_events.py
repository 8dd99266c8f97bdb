"""What a simulation is asked for besides the states: outputs and events, by name, formula or Python function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from torseur.algebra.graph import Expr, Program, live_nodes, vector
from torseur.computation.simulation.model.system import Quantity, System, Vector
from torseur.errors import TorseurError, UnsupportedError, unknown_name
from torseur.formula_texts import read_output

StateFunction: TypeAlias = Callable[[float, Vector], float]


@dataclass(frozen=True)
class Output:
    """A quantity to tabulate along the motion.

    `function` is a formula, as text or in the system's own symbols, or a Python function of (t, y); by default the
    quantity of that name. Where outputs are asked for, a text is a quantity or a formula: "camber = angle(...)".
    """

    name: str
    function: Expr | StateFunction | str | None = None
    unit: str = "1"
    meaning: str = ""

    def __post_init__(self) -> None:
        _require_function("output", self.name, self.function)


@dataclass(frozen=True)
class Event:
    """A function of time and state whose change of sign is an event.

    `function` is given as for an Output. `direction` +1 asks for changes from negative to positive, -1 for the other
    ones, 0 for both. `stop` ends the motion: True at the first occurrence, a number n at the n-th. `reset` is a Python
    function of (t, y) that gives the state with which the motion goes on.
    """

    name: str
    function: Expr | StateFunction | str | None = None
    direction: int = 0
    stop: bool | int = False
    reset: Callable[[float, Vector], Sequence[float] | Vector] | None = None

    def __post_init__(self) -> None:
        _require_function("event", self.name, self.function)
        if self.direction not in (-1, 0, 1):
            raise TorseurError(f"event '{self.name}': direction is {self.direction}, expected -1, 0 or 1.")
        if self.stop < 0:
            raise TorseurError(f"event '{self.name}': stop is {self.stop}, expected True, False or a positive number.")


@dataclass(frozen=True)
class Impact:
    """A contact that opens and closes: `gap` (m or rad) is a formula of coordinates that cannot become negative.

    Where it would, the bodies rebound: the gap's rate changes sign and is multiplied by `restitution`, by an impulse
    that respects all constraints. Rebounds slower than `rest_speed` end in lasting contact, until it would have to
    pull; without it 1e-6 m/s (rad/s) for a mechanism of 1 m, in proportion to the root of its size as speeds of falls.
    """

    name: str
    gap: Expr | str
    restitution: float = 0.0
    rest_speed: float | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.restitution <= 1.0:
            raise TorseurError(f"impact '{self.name}': restitution is {self.restitution}, expected between 0 and 1.")
        if self.rest_speed is not None and not self.rest_speed > 0.0:
            raise TorseurError(f"impact '{self.name}': rest_speed is {self.rest_speed}, expected a positive speed.")


def _require_function(kind: str, name: str, function: object) -> None:
    if function is not None and not isinstance(function, Expr | str) and not callable(function):
        raise TorseurError(
            f"{kind} '{name}': expected a formula, an expression of the mechanism's symbols or a Python function of "
            f"(t, y), got {function!r}. Without a function it is the quantity of that name."
        )


def distinct_impacts(impacts: Sequence[Impact]) -> list[Impact]:
    """Impacts, each contact once; one that is described twice in different ways is refused."""
    by_gap: dict[str, Impact] = {}
    for impact in impacts:
        other = by_gap.setdefault(str(impact.gap), impact)
        if (other.restitution, other.rest_speed) != (impact.restitution, impact.rest_speed):
            raise TorseurError(
                f"impacts '{other.name}' and '{impact.name}' are of the same gap, {impact.gap}, with different "
                "restitutions or rest speeds. Give it once."
            )
    return list(by_gap.values())


def as_outputs(outputs: Sequence[str | Output], system: System) -> tuple[Output, ...]:
    """Outputs, those given as texts read."""
    listed = [outputs] if isinstance(outputs, str | Output) else outputs
    return tuple(_output(output, system) for output in listed)


def outputs_besides_states(outputs: Sequence[str | Output], system: System) -> tuple[Output, ...]:
    """Outputs, less those that name a state: every state is a column already."""
    states = {quantity.name for quantity in system.states}
    return tuple(o for o in as_outputs(outputs, system) if o.function is not None or o.name not in states)


def as_events(events: Sequence[str | Event], system: System) -> tuple[Event, ...]:
    """Events, those given as texts read."""
    listed = [events] if isinstance(events, str | Event) else events
    return tuple(_event(event, system) for event in listed)


def _output(given: str | Output, system: System) -> Output:
    """A state, a quantity by its name, or a formula; a formula keeps the unit that it was given."""
    if isinstance(given, str):
        return _named_output(given, system)
    if not isinstance(given.function, str):
        return given
    read: Output = read_output(given.function, system)
    return replace(given, function=read.function, unit=read.unit if given.unit == "1" else given.unit)


def _named_output(text: str, system: System) -> Output:
    if text in system.quantities or text in [state.name for state in system.states]:
        return Output(text)
    if not isinstance(system.rhs, Program):
        return Output(text)
    read: Output = read_output(text, system)
    return read


def _event(given: str | Event, system: System) -> Event:
    if isinstance(given, str):
        read = _named_output(given, system)
        return Event(read.name, read.function)
    if not isinstance(given.function, str):
        return given
    return replace(given, function=read_output(given.function, system).function)


def quantity_of(output: Output, system: System) -> Quantity:
    """Unit and meaning of an output: its own, or those of the system's quantity of that name."""
    if output.function is None and output.name in system.quantities:
        return system.quantities[output.name][0]
    return Quantity(output.name, output.unit, output.meaning)


def is_python(request: Output | Event) -> bool:
    """Whether the request is a Python function."""
    return request.function is not None and not isinstance(request.function, Expr)


def formula_of(request: Output | Event, system: System) -> Expr:
    """The expression behind a request that is not a Python function."""
    program = _program(request, system)
    if isinstance(request.function, Expr):
        return request.function if system.resolve is None else system.resolve(request.function)
    states = [state.name for state in system.states]
    if request.name in states:
        return program.input("y").nodes[states.index(request.name)]
    if request.name not in system.quantities:
        raise TorseurError(unknown_name("quantity", request.name, [*states, *system.quantities]))
    return system.quantities[request.name][1]


def output_program(outputs: Sequence[Output], system: System) -> Program | None:
    """The outputs that are formulas as a program of the system's inputs; None when there is none."""
    formulas = [output for output in outputs if not is_python(output)]
    return _program_of("outputs", formulas, system) if formulas else None


def event_program(events: Sequence[Event], system: System) -> Program:
    """Event functions that are formulas as a program of the system's inputs."""
    return _program_of("events", events, system)


def _program_of(name: str, requests: Sequence[Output] | Sequence[Event], system: System) -> Program:
    formulas = [formula_of(request, system) for request in requests]
    inputs = _program(requests[0], system).inputs
    needs_solution = {node for group in system.solution for node in group.nodes} & set(live_nodes(formulas))
    return Program(name, (*inputs, *(system.solution if needs_solution else ())), (vector("values", formulas),))


def _program(request: Output | Event, system: System) -> Program:
    if not isinstance(system.rhs, Program):
        raise UnsupportedError(
            f"'{request.name}' is a formula, but {system.name} is a Python function: give a function of (t, y) instead."
        )
    return system.rhs
