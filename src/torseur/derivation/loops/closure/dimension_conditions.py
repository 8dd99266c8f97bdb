"""Closure equations without coordinates: conditions on dimensions, which hold or make the mechanism impossible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torseur.algebra.graph import Expr, constant_value, evaluate, live_nodes, symbols_of
from torseur.derivation.loops.closure.closure_tolerance import chosen_tolerance, closure_tolerance
from torseur.derivation.loops.closure.joint_closure import Residual
from torseur.derivation.tree import Tree
from torseur.description.mechanism import TIME, Mechanism
from torseur.errors import MechanismError

# A condition may depend on time through a driver: it must hold at all of some instants that are no multiples.
_TIMES = (0.0, 0.318, 1.27, 3.9)


def known_values(tree: Tree) -> dict[Expr, float]:
    """Numbers of the parameters that have one (SI)."""
    given = {p.symbol: p.value for p in tree.mechanism.parameters if p.value is not None}
    known = {s: constant_value(v) for s, v in given.items() if not _free(v)}
    known.update({s: float(v) for s, v in tree.parameters.items() if isinstance(v, (int, float))})
    return known


def _free(value: Expr) -> bool:
    return any(node.op in ("symbol", "apply") for node in live_nodes([value]))


@dataclass(frozen=True)
class ConditionGap:
    """By how much a condition misses zero, and by how much it may (in its unit)."""

    name: str
    unit: str
    gap: float
    limit: float

    @property
    def fault(self) -> str:
        """What is said of a condition that does not hold."""
        return (
            f"{self.name} cannot hold: it is off by {f'{self.gap:.4g} {self.unit}'.strip()} whatever the coordinates. "
            "Check what it says, and the positions and axes of the frames it joins."
        )


def without_conditions(tree: Tree, items: Sequence[Residual]) -> list[Residual]:
    """The residuals that depend on the state; the others are checked where their parameters have numbers."""
    state = {*tree.layout.coordinates, *tree.layout.speeds}
    for one in condition_gaps(tree, conditions(tree, items), known_values(tree)):
        if one.gap > one.limit:
            raise MechanismError(one.fault)
    return [item for item in items if state & set(symbols_of([item.value]))]


def conditions(tree: Tree, items: Sequence[Residual]) -> list[Residual]:
    """The residuals that depend on parameters and time only and do not vanish by themselves."""
    state = {*tree.layout.coordinates, *tree.layout.speeds}
    return [item for item in items if not item.value.is_zero and not state & set(symbols_of([item.value]))]


def condition_gaps(tree: Tree, items: Sequence[Residual], values: dict[Expr, float]) -> Iterator[ConditionGap]:
    """What conditions miss with given values of the parameters; those without all values are passed over."""
    for item in items:
        # Conditions with parameters that have no value yet are checked when they get one.
        needed = set(symbols_of([item.value]))
        is_open = any(x is not TIME and x not in values for x in needed)
        if is_open or any(n.op == "apply" for n in live_nodes([item.value])):
            continue
        # Planar linkages drawn with rounded offsets leave some of the last digit in the third direction: no fault.
        size = characteristic_length(tree.mechanism, values)
        scale = size if item.unit.startswith("m") else 1.0
        gap = max(abs(float(evaluate([item.value], {**values, TIME: t})[0])) for t in _TIMES)
        unit = "" if item.unit == "1" else item.unit
        yield ConditionGap(item.name, unit, gap, _tolerance(tree, item, size, scale, values))


def _tolerance(tree: Tree, item: Residual, size: float, scale: float, values: dict[Expr, float]) -> float:
    """By how much a residual may miss zero, in its own unit."""
    owners = {f"joint '{j.name}'": j for j in tree.mechanism.joints}
    constraints = {f"constraint '{c.name}'": c for c in tree.mechanism.constraints}
    chosen = chosen_tolerance({**owners, **constraints}[item.owner], values)
    if chosen is None:
        return scale * closure_tolerance(tree.mechanism, size, {str(x.name): v for x, v in values.items()})
    return chosen * scale / size if item.owner in owners else chosen


def nonlinear(name: str, rate: Expr) -> str:
    """What is said of a velocity constraint that is not linear."""
    return f"{name} is not linear in '{rate.name}': velocity constraints must be."


def require_distance(name: str, value: float) -> None:
    """Refuses a distance that two points cannot keep."""
    if not value > 0:
        raise MechanismError(
            f"constraint '{name}': a distance of {value:.4g} m cannot be kept; expected more than 0. "
            "To keep two points together use a spherical joint."
        )


def characteristic_length(mechanism: Mechanism, values: dict[Expr, float]) -> float:
    """The largest offset in the description (m), 1 when there is none."""
    frames = [frame for joint in mechanism.joints for frame in (joint.parent, joint.child)]
    offsets = [component for frame in frames for component in frame.placement.position]
    known = [c for c in offsets if all(x in values for x in symbols_of([c]))]
    sizes = [abs(float(v)) for v in evaluate(known, values)] if known else []
    return max(sizes, default=0.0) or 1.0
