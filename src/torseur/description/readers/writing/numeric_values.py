"""The numbers of a mechanism: its formulas evaluated with the values of its parameters."""

from __future__ import annotations

from functools import cached_property

from torseur.algebra.graph import Expr, evaluate, symbols_of
from torseur.algebra.spatial import NO_INERTIA, NULL, Inertia, Rotation, Symmetric3, Transform, Vec3, about, inertia_at
from torseur.description.mechanism import HERE, Body, Coordinate, Frame, Mechanism, Placement, apply_laws
from torseur.description.mechanism.solids import Solid
from torseur.errors import UnsupportedError


class Values:
    """Evaluates what depends on parameters only; anything else cannot stand in a robot file."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism

    @cached_property
    def coordinates(self) -> list[Coordinate]:
        """The coordinates of all joints."""
        return [q for joint in self.mechanism.joints for q in joint.coordinates]

    @cached_property
    def parameters(self) -> dict[Expr, float]:
        """Numbers of all parameters that have one, those given by others included."""
        known: dict[Expr, float] = {}
        waiting = {p.symbol: p.value for p in self.mechanism.parameters if p.value is not None}
        while ready := [s for s, value in waiting.items() if all(x in known for x in symbols_of([value]))]:
            for symbol in ready:
                known[symbol] = float(evaluate([waiting.pop(symbol)], known)[0])
        return known

    def number(self, formula: Expr, what: str) -> float:
        """The value of a formula of parameters."""
        plain = self.plain(formula)
        unknown = [x for x in symbols_of([plain]) if x not in self.parameters]
        if unknown:
            raise UnsupportedError(
                f"{what} depends on {unknown[0].name}, which has no value; a robot file holds numbers."
            )
        return float(evaluate([plain], self.parameters)[0])

    def plain(self, formula: Expr) -> Expr:
        """A formula with its laws expanded."""
        return apply_laws([formula], self.mechanism.laws)[0] if self.mechanism.laws else formula

    def vector(self, components: tuple[Expr, ...], what: str) -> Vec3:
        return Vec3(*(self.number(c, what) for c in components))

    def place(self, placement: Placement, what: str) -> Transform:
        """The place a placement describes."""
        rotation = Rotation()
        for step in placement.rotation:
            rotation = rotation.then(about(self.vector(step.axis, what), self.number(step.angle, what)))
        return Transform(rotation, self.vector(placement.position, what))

    def frame(self, frame: Frame) -> Transform:
        """A frame in the reference frame of its body."""
        what = f"a frame of body '{frame.body}'"
        place = self.place(frame.placement, what)
        return place if frame.base == "frame" else self.centre(self.mechanism.body(frame.body)).then(place)

    def centre(self, body: Body) -> Transform:
        """The inertial frame of a body in its reference frame."""
        if body.iframe is not None:
            return self.place(body.iframe, f"the mass centre of body '{body.name}'")
        total = self.inertia(body)
        return Transform(Rotation(), total.moment / total.mass if total.mass else NULL)

    def inertia(self, body: Body) -> Inertia:
        """Mass, first moment and inertia matrix of a body at its reference frame."""
        total = NO_INERTIA
        for solid in body.solids:
            total = total + self._solid(solid, body.name)
        if body.solids and body.mass is None and body.inertia is None:
            return total
        return total + self._inertia_of(body)

    def _inertia_of(self, body: Body) -> Inertia:
        what = f"the inertia of body '{body.name}'"
        if (
            body.mass is None
            or body.inertia is None
            or (body.iframe is None and not body.mass.is_zero and not body.solids)
        ):
            raise UnsupportedError(f"{what} is not given; a robot file holds numbers.")
        mass, matrix = (
            self.number(body.mass, what),
            Symmetric3(*(self.number(c, what) for c in body.inertia.components)),
        )
        centre = self.place(body.iframe or HERE, what)
        if body.inertia.about == "iframe":
            return inertia_at(mass, centre.position, centre.rotation.tensor_to_parent(matrix))
        if body.inertia.about == "frame":
            return Inertia(mass, centre.position * mass, matrix)
        assert isinstance(body.inertia.about, Placement)
        there = self.place(body.inertia.about, what)
        local = there.rotation.to_child(centre.position - there.position)
        return there.inertia_to_parent(Inertia(mass, local * mass, matrix))

    def _solid(self, solid: Solid, body: str) -> Inertia:
        what = f"a solid of body '{body}'"
        mass = self.number(solid.total_mass, what)
        moments = [mass * self.number(square, what) for square in solid.moments.gyration]
        centre = Vec3(0.0, 0.0, self.number(solid.moments.centre_z, what))
        local = inertia_at(mass, centre, Symmetric3(*(*moments, 0.0, 0.0, 0.0)))
        return self.place(solid.placement, what).inertia_to_parent(local)
