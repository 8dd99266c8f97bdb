"""The state in which a motion starts, from values of coordinates, rates and speeds by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isfinite

import numpy as np

from torseur.algebra.graph import Expr, evaluate
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.equations import Equations
from torseur.derivation.tree import resolve
from torseur.description.mechanism import TIME, Guess, Mechanism
from torseur.description.mechanism.units import value_in_si
from torseur.errors import TorseurError, unknown_name

CONTRADICTION = 1e-9
DIGITS = 1e-3  # by which the length of a quaternion may miss one: components written with a few digits


def initial_state(
    equations: Equations, parameters: Mapping[str, float], changes: Mapping[str, float]
) -> tuple[float, ...]:
    """(q, v) at the start: the mechanism's own values, overridden by `changes`; what nobody gives is zero.

    Quaternions start without rotation; what is not exact of them completes the rest to length one. Rates that are no
    speeds themselves determine the speeds: q' = N(q) v.
    """
    bound = _parameter_values(equations, parameters)
    given = _own_values(equations, bound) | _check(equations, changes)
    exact, _ = stated_values(equations.mechanism, changes)
    q = _coordinates(equations, given, exact)
    v = _speeds(equations, given, q, bound)
    return (*q.tolist(), *v.tolist())


def stated_values(mechanism: Mechanism, changes: Mapping[str, float]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Names of the exact initial values, and of the guesses in their order; `changes` replace the mechanism's own."""
    own = [(name, name in mechanism.guesses) for name, _ in mechanism.initial if name not in changes]
    stated = [*own, *((name, isinstance(value, Guess)) for name, value in changes.items())]
    return frozenset(n for n, is_guess in stated if not is_guess), tuple(n for n, is_guess in stated if is_guess)


def _parameter_values(equations: Equations, parameters: Mapping[str, float]) -> dict[Expr, float]:
    values = zip(equations.layout.parameters, parameters.values(), strict=True)
    return {**dict(values), TIME: 0.0}


def _own_values(equations: Equations, bound: Mapping[Expr, float]) -> dict[str, float]:
    mechanism = equations.mechanism
    formulas = resolve(mechanism, equations.tree.definitions, [value for _, value in mechanism.initial])
    try:
        numbers = evaluate(formulas, bound)
    except TorseurError as problem:
        raise _without_value(mechanism, formulas, bound) from problem
    return {name: float(number) for (name, _), number in zip(mechanism.initial, numbers, strict=True)}


def _without_value(mechanism: Mechanism, formulas: Sequence[Expr], bound: Mapping[Expr, float]) -> TorseurError:
    """Which initial value has none."""
    for (name, _), formula in zip(mechanism.initial, formulas, strict=True):
        try:
            evaluate([formula], bound)
        except TorseurError:
            return TorseurError(
                f"{mechanism.name}: the formula of the initial value '{name}' has no value with these parameters, as "
                "where a root is negative or a loop does not close. Give it as a number."
            )
    return TorseurError(f"{mechanism.name}: its initial values have no value with these parameters.")


def _check(equations: Equations, changes: Mapping[str, float]) -> dict[str, float]:
    layout = equations.layout
    known = [*layout.coordinate_names, *layout.speed_names]
    known += [str(rate.name) for rate in layout.rates if rate.name not in known]
    for name in changes:
        if name not in known:
            raise TorseurError(_cut_value(equations, name) or unknown_name("initial value", name, known))
    units = {str(x.name): x.data.unit for x in (*layout.coordinates, *layout.speeds, *layout.rates)}
    return {name: _as_number(name, value, units[name]) for name, value in changes.items()}


def _cut_value(equations: Equations, name: str) -> str:
    """What is said of a value for a joint that closes a loop and is not in the state; nothing for other names."""
    for joint in equations.tree.loops:
        if name.removesuffix("'") in [c.name for c in joint.coordinates] or name in [s.name for s in joint.speeds]:
            return (
                f"initial value '{name}': joint '{joint.name}' closes a loop, and nothing in the description keeps its "
                f"coordinates. State the value there ('init {name} = ...'), or give it for another joint."
            )
    return ""


def _as_number(name: str, value: object, unit: str) -> float:
    if isinstance(value, str):
        return value_in_si(value, unit, f"initial value '{name}'")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise TorseurError(f"initial value '{name}': expected a number, got {value!r}.") from None
    if not isfinite(number):
        raise TorseurError(f"the initial value of '{name}' is {number}: expected a finite number.")
    return number


def quaternion_slots(equations: Equations) -> list[list[int]]:
    """Places of the quaternions' components in the state."""
    places = equations.layout.coordinates
    quaternions = [link.symbols.quaternion for link in equations.tree.links]
    return [[places.index(x) for x in quaternion] for quaternion in quaternions if quaternion]


def _coordinates(equations: Equations, given: Mapping[str, float], exact: Collection[str]) -> Vector:
    names = equations.layout.coordinate_names
    q = np.zeros(len(names))
    quaternions = quaternion_slots(equations)
    q[[slots[0] for slots in quaternions]] = 1.0
    for name, value in given.items():
        if name in names:
            q[names.index(name)] = value
    for slots in quaternions:
        held = [slot for slot in slots if names[slot] in exact]
        q[slots] = _of_unit_length(q, slots, held, [names[slot] for slot in slots])
    return q


def _of_unit_length(q: Vector, slots: list[int], held: list[int], names: list[str]) -> Vector:
    """A quaternion of length one in which exact components are as they were given, but for their digits."""
    about = f"initial state: the quaternion ({', '.join(names)})"
    rest = [slot for slot in slots if slot not in held]
    length, part, left = (float(np.linalg.norm(q[some])) for some in (slots, held, rest))
    if length == 0.0:
        raise TorseurError(f"{about} is zero, which is not a rotation.")
    if not held:
        return q[slots] / length
    if abs(part - 1.0) <= DIGITS:  # a whole rotation, rounded
        result = np.where(np.isin(slots, held), q[slots], 0.0)
        return result / part
    if not rest or part > 1.0:
        unit = ", ".join(f"{name} = {value:.6g}" for name, value in zip(names, q[slots] / length, strict=True))
        raise TorseurError(f"{about} has length {length if not rest else part:.6g}, expected 1: {unit}.")
    if left == 0.0 and len(rest) > 1:
        others = [name for slot, name in zip(slots, names, strict=True) if slot in rest]
        raise TorseurError(
            f"{about} is not complete: {', '.join(others)} may be anything of length {np.sqrt(1 - part**2):.6g} "
            f"together. Give one more, or a guess such as '{others[0]} about 0.1'."
        )
    result = q.copy()
    result[rest] = (q[rest] / left if left else 1.0) * np.sqrt(1.0 - part**2)
    return result[slots]


def _speeds(equations: Equations, given: Mapping[str, float], q: Vector, bound: Mapping[Expr, float]) -> Vector:
    """Speeds as given, and for the rest those that give the rates asked for."""
    names = equations.layout.speed_names
    v = np.array([given.get(name, 0.0) for name in names])
    rates = [str(rate.name) for rate in equations.layout.rates]
    asked = [slot for slot, name in enumerate(rates) if name in given and name not in names]
    if not asked:
        return v
    free = [slot for slot, name in enumerate(names) if name not in given]
    try:
        offset, matrix = _rates(equations, q, bound)
    except (ArithmeticError, ValueError) as error:
        raise TorseurError(
            "initial state: the rates do not determine the speeds at the start. Give speeds instead: "
            f"{', '.join(names)}."
        ) from error
    target = np.array([given[rates[slot]] for slot in asked]) - offset[asked] - matrix[asked] @ v
    part = matrix[np.ix_(asked, free)]
    v[free] = np.linalg.lstsq(part, target, rcond=None)[0]
    if np.abs(part @ v[free] - target).max() > CONTRADICTION * (1.0 + np.abs(target).max()):
        listing = ", ".join(f"'{rates[slot]}'" for slot in asked)
        raise TorseurError(
            f"initial state: no speeds give the rates {listing}. Give speeds instead: {', '.join(names)}."
        )
    return v


def _rates(equations: Equations, q: Vector, bound: Mapping[Expr, float]) -> tuple[Vector, Vector]:
    """n and N of the rates n + N v, which are linear in the speeds."""
    layout = equations.layout
    values = {**bound, **dict(zip(layout.coordinates, q.tolist(), strict=True))}

    def at(v: Vector) -> Vector:
        moving = {**values, **dict(zip(layout.speeds, v.tolist(), strict=True))}
        return np.array([float(rate) for rate in evaluate(list(equations.rates), moving)])

    still = at(np.zeros(len(layout.speeds)))
    return still, np.column_stack([at(unit) - still for unit in np.eye(len(layout.speeds))])
