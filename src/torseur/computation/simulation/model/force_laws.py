"""Laws of the equations given as Python functions, which the compiled loop calls back.

What they raise ends the motion with an error that names the function and the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from torseur.algebra.graph import Expr, Program, vector
from torseur.algebra.graph.derivatives import derivative_of_law
from torseur.computation.codegen.routine import Array, External, Static, routine, zeros
from torseur.computation.simulation.implicit.radau_memory import Jacobian
from torseur.computation.simulation.model.system import Law, System, Vector
from torseur.errors import SimulationError, TorseurError, unknown_name

LawFunction: TypeAlias = Callable[..., float]

NU: int = Static("NU")  # number of laws
NA: int = Static("NA")  # number of their arguments, together

law_arguments = External("law_arguments", "t: float, y: Array, p: Array, a: Array")
law_values = External("law_values", "t: float, a: Array, u: Array")
driven_rhs = External("driven_rhs", "t: float, y: Array, p: Array, u: Array, dy: Array")
driven_rhs_jacobian = External("driven_rhs_jacobian", "t: float, y: Array, p: Array, u: Array, jacobian: Array")
driven_events = External("driven_events", "t: float, y: Array, p: Array, u: Array, g: Array")
driven_outputs = External("driven_outputs", "t: float, y: Array, p: Array, u: Array, z: Array")


@routine
def laws(t: float, y: Array, p: Array, u: Array) -> None:
    """The values of the laws in a state."""
    a = zeros(NA)
    law_arguments(t, y, p, a)
    law_values(t, a, u)


@routine
def rhs_with_laws(t: float, y: Array, p: Array, dy: Array) -> None:
    """The right-hand side of equations that contain laws."""
    u = zeros(NU)
    laws(t, y, p, u)
    driven_rhs(t, y, p, u, dy)


@routine
def rhs_jacobian_with_laws(t: float, y: Array, p: Array, jacobian: Jacobian) -> None:
    """The Jacobian of equations that contain laws of time, which do not vary with the state."""
    u = zeros(NU)
    laws(t, y, p, u)
    driven_rhs_jacobian(t, y, p, u, jacobian)


@routine
def events_with_laws(t: float, y: Array, p: Array, g: Array) -> None:
    """Event formulas that contain laws."""
    u = zeros(NU)
    laws(t, y, p, u)
    driven_events(t, y, p, u, g)


@routine
def outputs_with_laws(t: float, y: Array, p: Array, z: Array) -> None:
    """Output formulas that contain laws."""
    u = zeros(NU)
    laws(t, y, p, u)
    driven_outputs(t, y, p, u, z)


def given_laws(system: System, functions: Mapping[str, LawFunction] | None) -> tuple[LawFunction, ...]:
    """The Python function of each law of the system, in its order; derivatives follow from the law itself."""
    given = functions or {}
    names = [law.name for law in system.laws]
    bases = [law.node.data.function.name for law in system.laws]
    for name in given:
        if name not in (*names, *bases):
            raise TorseurError(unknown_name("law", name, dict.fromkeys([*bases, *names])))
    return tuple(law_function(law.node, given) for law in system.laws)


def law_function(node: Expr, given: Mapping[str, LawFunction]) -> LawFunction:
    """The function behind an undetermined function of the equations, or behind a derivative of one."""
    application = node.data
    if application.name in given:
        return given[application.name]
    name = application.function.name
    if name not in given:
        raise TorseurError(f"law '{name}' is undetermined: give it, e.g. laws={{'{name}': lambda ...: ...}}.")
    return derivative_of_law(given[name], application)


def arguments_program(system: System) -> Program:
    """The arguments of all laws, one after the other, as a program of the system's inputs."""
    assert isinstance(system.rhs, Program)
    inputs = tuple(group for group in system.rhs.inputs if group.name != "u")
    return Program("law_arguments", inputs, (vector("a", [a for law in system.laws for a in law.node.args]),))


def law_callback(laws: Sequence[Law], functions: Sequence[LawFunction]) -> Callable[[float, Vector, Vector], None]:
    """A function that fills u with the values of the laws for their arguments a."""
    ends = [sum(len(law.node.args) for law in laws[: k + 1]) for k in range(len(laws))]
    slots = [slice(end - len(law.node.args), end) for law, end in zip(laws, ends, strict=True)]

    def values(t: float, a: Vector, u: Vector) -> None:
        given = a.tolist()
        for k, (law, function) in enumerate(zip(laws, functions, strict=True)):
            u[k] = call_user_function(f"law '{law.name}'", t, function, *given[slots[k]])

    return values


def call_user_function(what: str, t: float, function: Callable[..., Any], *arguments: Any) -> float:
    """The number a user's function returns; what it raises becomes an error with its name and the time."""
    try:
        return float(function(*arguments))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise SimulationError(f"{what} failed at t = {t:.9g} s: {reason}") from error
