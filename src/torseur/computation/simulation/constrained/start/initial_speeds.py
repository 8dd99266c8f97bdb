"""The speeds with which a constrained motion starts.

Exact ones stay, guesses stay where the constraints allow them, the others are zero where they can be, and the rest
follows: docs/decisions/0062-starts-exact-guessed-free.md.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.position_assembly import CLOSED, Mask
from torseur.computation.simulation.constrained.start.start_account import (
    GIVEN,
    GUESSED,
    Consistent,
    StartValue,
    origin_of,
    quoted,
)
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.loops.closure.closure_tolerance import MOST, rounding
from torseur.errors import TorseurError

AMPLIFIED = 100.0  # how much more than a gap by rounding an exact value may move to close it
INDEPENDENT = 1e-9  # part of the largest singular value above which a constraint says something new
LOOSE = 1e-2  # part of a unit speed that constraints must leave for it to be set freely, without others running away
NOTHING = 1e-7  # part of the fastest speed that is none
SLIDING = 1e-3  # what a translation counts beside a rotation where the least of both is looked for
SAME_ACCELERATION = 1e-7  # of the size of accelerations, up to which constraints agree on them
AT_REST = 1e-60  # size of accelerations, in units of the mechanism, that are none: their digits are lost


def nearest_speeds(numbers: StateNumbers, t: float, closed: Vector) -> Vector:
    """A closed state with the speeds on the constraints nearest to its own, in the metric of the mass matrix."""
    rows, target = _velocity_level(numbers, t, closed)
    everything, result = np.ones(len(numbers.scales), dtype=bool), closed.copy()
    change = _smallest(numbers, numbers.metric(t, closed, rows), rows, target, everything)
    result[numbers.coordinates :] += change * numbers.scales
    return result


def moving_state(
    numbers: StateNumbers, t: float, closed: Consistent, asked: Vector, given: Collection[str]
) -> Consistent:
    """A closed state with the speeds that are given, zero where the constraints leave more open."""
    velocity = _velocities(numbers, t, closed, asked, given)
    _require_accelerations(numbers, t, velocity.y)
    return velocity


def _velocity_level(numbers: StateNumbers, t: float, y: Vector) -> tuple[Vector, Vector]:
    """C in units of moves, and the C δv that would make C v + drift vanish."""
    level = numbers.of(numbers.programs.velocities, t, y)
    rows = level["rows"] * numbers.scales
    return rows, -level["drift"] - rows @ (y[numbers.coordinates :] / numbers.scales)


def _velocities(
    numbers: StateNumbers, t: float, closed: Consistent, asked: Vector, given: Collection[str]
) -> Consistent:
    y = closed.y
    rows, target = _velocity_level(numbers, t, y)
    v = y[numbers.coordinates :] / numbers.scales
    metric, count = numbers.metric(t, y, rows), len(rows)
    fastest = max(np.abs(v).max(initial=0.0), np.abs((target + rows @ v) / numbers.row_scales).max(initial=0.0), 1e-300)
    scale = numbers.row_scales
    # Rates of coordinates that are no speeds are rows beside the constraints: N(q) δv = what is missing from them.
    held, missing = _held_rates(numbers, t, y, asked, given)
    rows, target = np.concatenate([rows, held]), np.concatenate([target, missing])
    scale = np.concatenate([scale, np.ones(len(held))])
    exact = _exact_speeds(numbers, given)
    limit = CLOSED * (1.0 + fastest)
    written = min(MOST, rounding((v[exact] / fastest).tolist()) + rounding(v[exact].tolist())) * fastest
    follow = free_speeds(numbers, t, _fewest_speeds(numbers, t, y, rows / scale[:, None], target / scale, given), given)
    # What follows moves first; then all but exact speeds; at last these too, within the digits they are written with.
    for mask, largest in ((follow, limit), (~exact, limit), (np.ones(len(v), dtype=bool), max(written, limit))):
        change = _smallest(numbers, metric, rows, target, mask)
        missed = np.abs((target - rows @ change) / scale)
        slack = np.concatenate([numbers.tolerances * fastest, np.zeros(len(held))])
        if np.all(missed <= np.maximum(limit, slack)) and np.abs(change[exact]).max(initial=0.0) <= AMPLIFIED * largest:
            break
    else:
        if np.all(missed[:count] <= np.maximum(limit, slack[:count])):
            raise TorseurError(_wrong_speeds(numbers, t, y, -target[:count], given))
        raise TorseurError(_contradiction(numbers, rows[:count], (target - rows @ change)[:count], "velocities"))
    result = y.copy()
    result[numbers.coordinates :] = (v + change) * numbers.scales
    return Consistent(result, closed.notes, closed.account + _speed_account(numbers, t, asked, result, given, follow))


def _speed_account(
    numbers: StateNumbers, t: float, asked: Vector, y: Vector, given: Collection[str], follow: Mask
) -> tuple[StartValue, ...]:
    values = []
    for k, name in enumerate(numbers.equations.layout.speed_names):
        now, before = float(y[numbers.coordinates + k]), float(asked[numbers.coordinates + k])
        origin = origin_of(name, given, numbers.guesses, is_free=not follow[k])
        values.append(StartValue(name, now, origin, now - before if origin in (GIVEN, GUESSED) else 0.0))
    slots = held_rates(numbers, given)
    rates = numbers.of(numbers.programs.dynamics, t, y)["rates"] if slots else np.zeros(0)
    values += [StartValue(str(numbers.equations.layout.rates[k].name), float(rates[k]), GIVEN) for k in slots]
    return tuple(values)


def _smallest(numbers: StateNumbers, metric: Vector, rows: Vector, target: Vector, free: Mask) -> Vector:
    """The smallest change of the free speeds that makes rows @ change the target, or comes nearest to it."""
    change = np.zeros(len(free))
    if free.any():
        factor = np.linalg.cholesky(metric[np.ix_(free, free)])
        whitened = np.linalg.solve(factor, rows[:, free].T).T
        answer = np.linalg.lstsq(whitened, target, rcond=numbers.negligible(INDEPENDENT))[0]
        change[free] = np.linalg.solve(factor.T, answer)
    return change


def _exact_speeds(numbers: StateNumbers, given: Collection[str]) -> Mask:
    return np.array([name in given for name in numbers.equations.layout.speed_names], dtype=bool)


def _held_rates(
    numbers: StateNumbers, t: float, y: Vector, asked: Vector, given: Collection[str]
) -> tuple[Vector, Vector]:
    """Rows of given rates of coordinates that are no speeds, and what is missing from them."""
    slots = held_rates(numbers, given)
    if not slots:
        return np.zeros((0, len(numbers.scales))), np.zeros(0)
    wanted, now = (numbers.of(numbers.programs.dynamics, t, state)["rates"][slots] for state in (asked, y))
    return numbers.reach(t, y)[slots], wanted - now


def held_rates(numbers: StateNumbers, given: Collection[str]) -> list[int]:
    """Numbers of given rates of coordinates that are no speeds."""
    layout = numbers.equations.layout
    return [k for k, rate in enumerate(layout.rates) if rate.name in given and rate.name not in layout.speed_names]


def _unit_rows(rows: Vector) -> Vector:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1), 1e-300)[:, None])


def free_speeds(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> Mask:
    """Speeds that follow from the constraints: neither exact, nor guessed or zero where the constraints allow it.

    Guesses are kept as they are written, then zeros: those of the state first, from the earth outward, rotations before
    translations; each where the constraints and those before leave it open.
    """
    fixed, determined = _exact_directions(numbers, t, y, given)
    follows, order = ~fixed, _setting_order(numbers, y)
    for k in order:
        rest = _beyond(determined, np.eye(len(fixed))[k])
        size = float(np.linalg.norm(rest))
        if follows[k] and size > LOOSE:
            follows[k] = False
            determined.append(rest / size)
    return follows


def _exact_directions(numbers: StateNumbers, t: float, y: Vector, given: Collection[str]) -> tuple[Mask, list[Vector]]:
    """Exact speeds, and an orthonormal basis of what is determined: these, and what the constraints say beside them."""
    fixed = _exact_speeds(numbers, given)
    rows = numbers.of(numbers.programs.velocities, t, y)["rows"] * numbers.scales / numbers.row_scales[:, None]
    # A given rate that is no speed says something of several speeds, as a constraint does: none of them is exact by it.
    held = _unit_rows(numbers.reach(t, y)[held_rates(numbers, given)])
    _, sizes, directions = np.linalg.svd(np.where(fixed, 0.0, np.concatenate([rows, held])))
    rank = int(np.sum(sizes > numbers.negligible(INDEPENDENT) * sizes.max(initial=0.0)))
    return fixed, [*np.eye(len(fixed))[fixed], *directions[:rank]]


def _beyond(units: Sequence[Vector], vector: Vector) -> Vector:
    """The part of a vector across orthonormal ones; twice, for what rounding leaves."""
    if units:
        basis = np.array(units)
        for _ in range(2):
            vector = vector - basis.T @ (basis @ vector)
    return vector


def _setting_order(numbers: StateNumbers, y: Vector) -> list[int]:
    """Speeds in the order in which they are set: guesses, then zeros from the earth outward, rotations first."""
    tree, layout = numbers.equations.tree, numbers.equations.layout
    speeds = y[numbers.coordinates :] / numbers.scales
    moving = np.abs(speeds) > NOTHING * np.abs(speeds).max(initial=0.0)
    depth = {k: len(tree.path(i)) for i, link in enumerate(tree.links) for k in range(link.v.start, link.v.stop)}
    guesses = {name: k for k, name in enumerate(numbers.guesses)}

    def rank(k: int) -> tuple[int, bool, int, bool, int]:
        speed = layout.speeds[k]
        is_sliding = speed.data.unit.startswith("m")
        return guesses.get(str(speed.name), len(guesses)), bool(moving[k]), depth[k], is_sliding, k

    return sorted(range(len(layout.speeds)), key=rank)


def _fewest_speeds(
    numbers: StateNumbers, t: float, y: Vector, rows: Vector, target: Vector, given: Collection[str]
) -> Vector:
    """The state with the speeds of the least sum of sizes that the constraints allow, of rotations before translations.

    `rows` and what is missing from them, `target`, are those of constraints and of given rates, in comparable units.
    Sums of sizes are least where as many as possible are zero; a wheel that is told to turn then rolls on, and does not
    turn on the spot. Exact speeds and guesses stay.
    """
    fixed, determined = _exact_directions(numbers, t, y, given)
    guesses = [k for k in _setting_order(numbers, y) if numbers.equations.layout.speed_names[k] in numbers.guesses]
    for k in guesses:
        rest = _beyond(determined, np.eye(len(fixed))[k])
        if not fixed[k] and np.linalg.norm(rest) > LOOSE:
            fixed[k] = True
            determined.append(rest / np.linalg.norm(rest))
    free = ~fixed
    if len(determined) >= len(fixed) or not free.any() or not np.any(target):
        return y
    from scipy.optimize import linprog

    v = y[numbers.coordinates :] / numbers.scales
    left, sizes, right = np.linalg.svd(rows[:, free], full_matrices=False)
    rank = int(np.sum(sizes > numbers.negligible(INDEPENDENT) * sizes.max(initial=0.0)))
    # Independent equations of the free speeds u = a - b, a and b not negative: their sum is the size of u.
    matrix = right[:rank]
    wanted = (left[:, :rank].T @ target) / sizes[:rank] + matrix @ v[free]
    size = float(np.abs(wanted).max(initial=0.0))
    if size == 0.0:
        return y
    sliding = np.array([speed.data.unit.startswith("m") for speed in numbers.equations.layout.speeds])[free]
    costs = np.where(sliding, SLIDING, 1.0)
    answer = linprog(np.tile(costs, 2), A_eq=np.hstack([matrix, -matrix]), b_eq=wanted / size, method="highs")
    if answer.x is None:
        return y
    result, count = y.copy(), int(free.sum())
    speeds = result[numbers.coordinates :]
    speeds[free] = (answer.x[:count] - answer.x[count:]) * size * numbers.scales[free]
    return result


def _wrong_speeds(numbers: StateNumbers, t: float, y: Vector, slip: Vector, given: Collection[str]) -> str:
    worst = int(np.argmax(np.abs(slip / numbers.row_scales)))
    constraint, layout = numbers.programs.constraints[worst], numbers.equations.layout
    kept = [name for name in (*layout.speed_names, *(str(r.name) for r in layout.rates)) if name in given]
    return (
        f"{numbers.equations.mechanism.name}: the initial speeds violate the constraints: {constraint.name} changes at "
        f"{abs(slip[worst]):.4g} per second with {quoted(list(dict.fromkeys(kept)))} as given. Give fewer speeds, "
        f'other values, or make one a guess, such as "{kept[-1]} about ...".'
    )


def _require_accelerations(numbers: StateNumbers, t: float, y: Vector) -> None:
    """Refuses constraints that agree on positions and velocities but not on accelerations."""
    level = numbers.of(numbers.programs.dynamics, t, y)
    rows, gamma = level["rows"] * numbers.scales, level["gamma"]
    metric = numbers.metric(t, y, rows)
    change = _smallest(numbers, metric, rows, gamma, np.ones(len(numbers.scales), dtype=bool))
    missed = gamma - rows @ change
    fastest = np.abs(y[numbers.coordinates :] / numbers.scales).max(initial=0.0)
    # What the products of speeds in γ can be, where they cancel as well: rows of a door on two hinges are all zero.
    allowed = max(np.abs(rows).max(initial=0.0), numbers.row_scales[numbers.is_geometric].max(initial=0.0))
    size = AT_REST + np.abs(gamma).max(initial=0.0) + fastest**2 * allowed
    size += numbers.negligible(0.0) * np.abs(rows).max(initial=0.0) * np.abs(change).max(initial=0.0)
    if np.abs(missed).max(initial=0.0) > numbers.negligible(SAME_ACCELERATION) * size:
        raise TorseurError(_contradiction(numbers, rows, missed, "accelerations"))


def _contradiction(numbers: StateNumbers, rows: Vector, missed: Vector, level: str) -> str:
    guilty = np.abs(missed) > 1e-3 * np.abs(missed).max()
    names = [c.name for c, wrong in zip(numbers.programs.constraints, guilty, strict=True) if wrong]
    return (
        f"{numbers.equations.mechanism.name}: {' and '.join(names)} contradict each other: they ask for different "
        f"{level} of the same motion at the start. Remove or correct one of them."
    )
