"""Constraints besides joints put into numbers for the loop analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, gradient, substitute, symbols_of
from torseur.algebra.spatial import Transform
from torseur.derivation.loops.closure.dimension_conditions import nonlinear, require_distance
from torseur.derivation.loops.closure.relations import (
    FixedDistance,
    MeasuredPosition,
    Relation,
    RollingContact,
    UserEquation,
)
from torseur.derivation.loops.model.cycles import JointGraph
from torseur.derivation.loops.model.dimensions import floats, parameter_values, require_values
from torseur.derivation.loops.model.joint_chains import Chains, Slots, chain, stack_chains
from torseur.derivation.loops.model.skeleton import Edge, Skeleton, resolve_in
from torseur.derivation.tree.flatten import flatten, rebuild
from torseur.description.mechanism import EARTH, TIME, Distance, Equation, Frame, Rolling, Sensor
from torseur.errors import UnsupportedError


@dataclass(frozen=True)
class RelationModel:
    """What is needed to put constraints into numbers."""

    frame: Skeleton
    edges: Sequence[Edge]
    slots: Slots
    graph: JointGraph
    length: float
    time: float
    units: Array

    def all(self) -> tuple[Relation, ...]:
        """Every constraint of the mechanism, in order."""
        return tuple(self._relation(c) for c in self.frame.mechanism.constraints)

    def _relation(self, constraint: Distance | Rolling | Equation) -> Relation:
        if isinstance(constraint, Distance):
            return self._distance(constraint)
        if isinstance(constraint, Rolling):
            return self._rolling(constraint)
        return self._equation(constraint)

    def _numbers(self, expressions: Sequence[Expr]) -> list[float]:
        mechanism = self.frame.mechanism
        return floats(mechanism, resolve_in(mechanism, list(expressions)), {TIME: self.time})

    def _place(self, frame: Frame) -> Transform:
        place = self.frame.local(frame)
        leaves = flatten(place)
        results = iter(self._numbers([leaf for leaf in leaves if isinstance(leaf, Expr)]))
        new: Transform = rebuild(place, iter([next(results) if isinstance(x, Expr) else x for x in leaves]))
        return new

    def _chains(self, first: Frame, second: Frame) -> Chains:
        path = self.graph.path(first.body, second.body)
        return stack_chains([chain(self.edges, self.slots, path, self._place(first), self._place(second))], self.length)

    def _distance(self, c: Distance) -> FixedDistance:
        (value,) = self._numbers([c.value])
        require_distance(c.name, value)
        chains = self._chains(c.first, c.second)
        return FixedDistance(f"constraint '{c.name}'", ("distance",), (), chains, value / self.length, self.slots.count)

    def _rolling(self, c: Rolling) -> RollingContact:
        radius, tyre = self._numbers([c.radius, c.tyre_radius if c.tyre_radius is not None else 0 * c.radius])
        normal = np.array(self._numbers(c.normal))
        normal = normal / np.linalg.norm(normal)
        # Two directions in the plane; the axis least along the normal leaves the longest cross product.
        first = np.cross(normal, np.eye(3)[int(np.argmin(abs(normal)))])
        first = first / np.linalg.norm(first)
        tangents = np.stack([first, np.cross(normal, first)])
        chains = self._chains(c.on, c.wheel)
        return RollingContact(
            f"constraint '{c.name}'", ("height",), ("slip 1", "slip 2"), chains, radius / self.length,
            tyre / self.length, normal, tangents, self.slots.count,
        )  # fmt: skip

    def _equation(self, c: Equation) -> UserEquation:
        value = self._with_numbers(c)
        slots = [(i, f.symbol) for i, f in enumerate(self.frame.freedoms) if f.symbol is not None]
        used = set(symbols_of([value]))
        rate_of = {q.symbol: q.rate for joint in self.frame.mechanism.joints for q in joint.coordinates}
        present = [(i, s) for i, s in slots if s in used or rate_of[s] in used]
        symbols = tuple(s for _, s in present)
        measured = tuple(self._measurement(c, s) for s in self.frame.mechanism.sensors if s.symbol in used)
        self._require(c, value, {*symbols, *(rate_of[s] for s in symbols), *(m.symbol for m in measured)})
        moving = any(rate_of[s] in used for s in symbols)
        rates = tuple(gradient(value, [rate_of[s] for s in symbols])) if moving else ()
        for s, partial in zip(symbols, rates, strict=False):
            if {rate_of[x] for x in symbols}.intersection(symbols_of([partial])):
                raise UnsupportedError(nonlinear(f"constraint '{c.name}'", rate_of[s]))
        # Taken once as expressions and evaluated over all lanes: differences of users' formulas would cost digits.
        partials = tuple(gradient(value, [*symbols, *(m.symbol for m in measured)]))
        return UserEquation(
            f"constraint '{c.name}'", () if moving else ("equation",), ("rate",) if moving else (),
            value, partials, rates, tuple(i for i, _ in present), symbols, self.units,
            measured, self._unit(present, measured, partials), 1.0, self.slots.count,
        )  # fmt: skip

    def _unit(
        self, present: Sequence[tuple[int, Expr]], measured: Sequence[MeasuredPosition], partials: Sequence[Expr]
    ) -> str:
        """The common unit of the variables of an equation that is linear in them, empty for any other."""
        if symbols_of(list(partials)):
            return ""
        units = {self.frame.freedoms[i].unit for i, _ in present} | ({"m"} if measured else set())
        return units.pop() if len(units) == 1 else ""

    def _with_numbers(self, c: Equation) -> Expr:
        """The residual with numbers for parameters and time."""
        mechanism = self.frame.mechanism
        (value,) = resolve_in(mechanism, [c.residual])
        return substitute([value], {**parameter_values(mechanism), TIME: self.time})[0]

    def _measurement(self, c: Equation, sensor: Sensor) -> MeasuredPosition:
        if sensor.kind != "position":
            raise UnsupportedError(
                f"constraint '{c.name}' depends on '{sensor.name}': the loop analysis covers coordinates, rates of "
                "coordinates and positions."
            )
        if sensor.axes.body != EARTH.body:
            raise UnsupportedError(
                f"sensor '{sensor.name}': the loop analysis covers components along the earth's axes."
            )
        turned = self._place(sensor.axes).rotation.matrix.rows
        direction = np.array([float(list(row)["xyz".index(sensor.component)]) for row in turned])
        return MeasuredPosition(sensor.symbol, self._chains(EARTH, sensor.of), direction, self.length)

    def _require(self, c: Equation, value: Expr, known: set[Expr]) -> None:
        speeds = {s.name for joint in self.frame.mechanism.joints for s in joint.speeds}
        for x in symbols_of([value]):
            if x not in known and x.name in speeds:
                raise UnsupportedError(f"constraint '{c.name}' uses the speed '{x.name}': write it with rates.")
        require_values(self.frame.mechanism, [value], dict.fromkeys(known, 0.0))
