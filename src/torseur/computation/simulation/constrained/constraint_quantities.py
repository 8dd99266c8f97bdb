"""What can be asked of a constrained mechanism by name: its multipliers, and the efforts and power of its constraints.

For joint `D` that closes a loop: `D.multiplier.x`. For constraint `drive` that prescribes one coordinate:
`drive.multiplier`, its `drive.effort` along that coordinate and its `drive.power`. Coordinates of joints that close
loops are quantities too, with their rates and accelerations: the state does not hold them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial

from torseur.algebra.graph import Expr, as_expr, substitute, symbols_of, time_derivative
from torseur.computation.simulation.model.named_quantities import Named, NamedQuantities
from torseur.computation.simulation.model.system import Quantity
from torseur.derivation.loops import ConstraintEquation
from torseur.derivation.loops.closure.cut_coordinates import coordinates_of_cut_joint
from torseur.derivation.tree import Snapshot, resolve
from torseur.description.mechanism import TIME, Joint, Measure

# Units of a multiplier by that of what its constraint holds at zero: together they make an energy or a power.
_UNITS = {"m": "N", "rad": "N*m", "m/s": "N", "rad/s": "N*m", "1": "J", "1/s": "J"}
_ONES = (as_expr(1), as_expr(-1))
_FORCES = {"m": "N", "m/s": "N", "rad": "N*m", "rad/s": "N*m"}


class ConstrainedQuantities(NamedQuantities):
    """The quantities of a mechanism and those of its constraints."""

    @cached_property
    def _makers(self) -> dict[str, Callable[[], Named]]:
        makers = dict(super()._makers)
        for constraint, multiplier in zip(self.programs.constraints, self.programs.multipliers, strict=True):
            makers[multiplier_name(constraint)] = partial(
                _multiplier, constraint, multiplier, self.equations.layout.speeds
            )
        for owner in dict.fromkeys(c.owner for c in self.programs.constraints):
            makers[f"{_bare(owner)}.power"] = partial(self._power, owner)
            makers |= self._efforts(owner)
        return makers | self._of_cut_joints

    @cached_property
    def _of_cut_joints(self) -> dict[str, Callable[[], Named]]:
        layout, tree = self.equations.layout, self.equations.tree
        now, makers = tree.at(layout.coordinates, layout.speeds), dict[str, Callable[[], Named]]()
        for joint in tree.loops:
            makers |= self._cut_coordinates(joint, now)
        return makers

    def _measure(self, measure: Measure) -> Named:
        """A measure; coordinates of joints that close loops, which the state lacks, stand in it by their values."""
        used = {str(symbol.name): symbol for symbol in symbols_of([measure.formula])}
        cut = {symbol: self._of_cut_joints[name]()[1] for name, symbol in used.items() if name in self._of_cut_joints}
        return super()._measure(replace(measure, formula=substitute([measure.formula], cut)[0]) if cut else measure)

    def _cut_coordinates(self, joint: Joint, now: Snapshot) -> dict[str, Callable[[], Named]]:
        """The coordinates of a joint that closes a loop, their rates and accelerations, which the state lacks."""
        tree = self.equations.tree
        coordinates = coordinates_of_cut_joint(joint, now)
        values = resolve(tree.mechanism, dict(tree.definitions), [value for _, value in coordinates])
        makers: dict[str, Callable[[], Named]] = {}
        for (coordinate, _), value in zip(coordinates, values, strict=True):
            quantity = Quantity(
                coordinate.name,
                str(coordinate.symbol.data.unit),
                coordinate.meaning or f"coordinate of joint '{joint.name}', which closes a loop",
            )
            makers[coordinate.name] = partial(_pair, quantity, value)
            makers[f"{coordinate.name}'"] = partial(self._rate_of_cut, quantity, value)
            makers[f"{coordinate.name}''"] = partial(self._acceleration_of_cut, quantity, value)
        return makers

    def _rate_of_cut(self, of: Quantity, value: Expr) -> Named:
        rates = dict(zip(self.equations.layout.coordinates, self.equations.rates, strict=True))
        (changing,) = time_derivative([value], rates, TIME)
        return Quantity(f"{of.name}'", f"{of.unit}/s", f"rate of {of.name}"), changing

    def _acceleration_of_cut(self, of: Quantity, value: Expr) -> Named:
        layout = self.equations.layout
        rates = dict(zip(layout.coordinates, self.equations.rates, strict=True))
        moving = rates | dict(zip(layout.speeds, layout.accelerations, strict=True))
        (changing,) = time_derivative([self._rate_of_cut(of, value)[1]], moving, TIME)
        return Quantity(f"{of.name}''", f"{of.unit}/s^2", f"acceleration of {of.name}"), changing

    def _of(self, owner: str) -> list[tuple[ConstraintEquation, Expr]]:
        pairs = zip(self.programs.constraints, self.programs.multipliers, strict=True)
        return [(constraint, multiplier) for constraint, multiplier in pairs if constraint.owner == owner]

    def _power(self, owner: str) -> Named:
        """-λ · C v = λ · drift: what a constraint that moves with time adds."""
        total = sum((multiplier * c.drift for c, multiplier in self._of(owner)), as_expr(0))
        return Quantity(f"{_bare(owner)}.power", "W", f"power of {owner}"), total

    def _efforts(self, owner: str) -> dict[str, Callable[[], Named]]:
        """Generalised forces -Cᵀ λ along the speeds that the constraint moves; a single one needs no further name."""
        speeds = self.equations.layout.speeds
        rows = [c.row for c, _ in self._of(owner)]
        moved = [slot for slot in range(len(speeds)) if any(not row[slot].is_zero for row in rows)]
        names = {slot: f"{_bare(owner)}.effort.{str(speeds[slot].name).removesuffix(chr(39))}" for slot in moved}
        makers: dict[str, Callable[[], Named]] = {
            name: partial(self._effort, owner, slot, name) for slot, name in names.items()
        }
        if len(moved) == 1:
            makers[f"{_bare(owner)}.effort"] = partial(self._effort, owner, moved[0], f"{_bare(owner)}.effort")
        return makers

    def _effort(self, owner: str, slot: int, name: str) -> Named:
        speed = self.equations.layout.speeds[slot]
        total = sum((-multiplier * c.row[slot] for c, multiplier in self._of(owner)), as_expr(0))
        return Quantity(name, _FORCES.get(speed.data.unit, "1"), f"effort of {owner} along {speed.name}"), total


def multiplier_name(constraint: ConstraintEquation) -> str:
    """The name under which a multiplier is asked for."""
    part = constraint.name.removeprefix(constraint.owner).removeprefix(": ")
    return f"{_bare(constraint.owner)}.multiplier" + (f".{part.replace(' ', '_')}" if part else "")


def _bare(owner: str) -> str:
    """The name of a joint or constraint: joint 'D' -> D."""
    return owner.split("'", 1)[1].removesuffix("'")


def _multiplier(constraint: ConstraintEquation, multiplier: Expr, speeds: Sequence[Expr]) -> Named:
    """A multiplier; along a speed that enters by itself it is the very force there, which tells its unit."""
    alone = (v.data.unit for entry, v in zip(constraint.row, speeds, strict=True) if entry in _ONES)
    unit = _FORCES.get(next(alone, ""), _UNITS.get(constraint.unit, "1"))
    return Quantity(multiplier_name(constraint), unit, f"multiplier of {constraint.name}"), multiplier


def _pair(quantity: Quantity, value: Expr) -> Named:
    return quantity, value
