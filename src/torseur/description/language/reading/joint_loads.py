"""Loads given as options of a joint: torque, force, stiffness, rest and damping."""

from __future__ import annotations

from collections.abc import Callable

from torseur.algebra.graph import as_expr
from torseur.description.language.default_names import joint_load
from torseur.description.language.formulas.dimensions import LENGTH, NUMBER, TIME, Dim, dimension_of
from torseur.description.language.formulas.name_scope import Context
from torseur.description.language.formulas.read_places import Components, vector_of
from torseur.description.language.formulas.scalar_formulas import Term
from torseur.description.language.reading.clauses import Items
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.mechanism import Coordinate, CoordinateForce, CoordinateSpring, JointWrench, Load
from torseur.description.mechanism.quantities import ORIGIN

OPTIONS = ("torque", "force", "stiffness", "rest", "damping")
ENERGY = dimension_of("N*m")
FORCE = dimension_of("N")
_SPRING = ("stiffness", "rest", "damping")
REST_HINT = "A rest is where a spring of that stiffness pulls to; an initial value is given by 'init'."
Builder = Callable[[], Load]


def spring_dimensions(coordinate: Dim) -> dict[str, Dim]:
    """Dimensions of a spring's properties on a coordinate: its energy is stiffness q²/2."""
    stiffness = ENERGY.times(coordinate, -2)
    return {"stiffness": stiffness, "rest": coordinate, "damping": stiffness.times(TIME)}


class _Options:
    """The load options of one joint while they are read."""

    def __init__(self, joint: str, context: Context, coordinates: tuple[Callable[[], Coordinate], ...], shop: Workshop):
        self.joint, self.context, self.shop = joint, context, shop
        self.coordinates = dict(zip(context.local, coordinates, strict=False))
        self.wrench: dict[str, Components] = {}
        self.springs: dict[str, dict[str, Term]] = {}
        self.items: dict[tuple[str, str], x.Property] = {}
        self.forces: set[str] = set()
        self.loads: list[Builder] = []

    def add(self, item: x.Property) -> None:
        option = item.name.text
        if isinstance(item.value, x.Text):
            self.shop.scope.fault(item.value, f"'{option}' is given by a formula, not a string.")
        elif option not in _SPRING and self.shop.places.looks_like_vector(item.value):
            self._vector(item, item.value)
        else:
            coordinate = self._coordinate(item)
            if coordinate is not None:
                self._scalar(item, item.value, coordinate)

    def _vector(self, item: x.Property, value: x.Expression) -> None:
        option = item.name.text
        if option in self.wrench:
            self.shop.scope.fault(item.name, f"'{option}' of joint '{self.joint}' is given twice.")
        expected = ENERGY if option == "torque" else FORCE
        self.wrench[option] = self.shop.places.vector(value, expected, self.context)
        if len(self.wrench) == 1:
            self.loads.append(self._wrench)

    def _wrench(self) -> Load:
        force, moment = (vector_of(self.wrench[k]) if k in self.wrench else ORIGIN for k in ("force", "torque"))
        return JointWrench(joint_load(self.joint, "wrench"), self.joint, force, moment)

    def _coordinate(self, item: x.Property) -> str | None:
        """The coordinate an option belongs to: the one it names, or the only one."""
        names = list(self.coordinates)
        if item.of is not None and item.of.name in names:
            return item.of.name
        if item.of is None and len(names) == 1:
            return names[0]
        if item.of is not None:
            self.shop.scope.unknown(item.of, "coordinate", item.of.name, self.coordinates)
        else:
            example = f"{item.name.text}({names[0]}) = ..." if names else ""
            many = f"has {len(names)} coordinates. Say which: {example}" if names else "has no coordinate."
            self.shop.scope.fault(item.name, f"joint '{self.joint}' {many}")
        return None

    def _scalar(self, item: x.Property, value: x.Expression, coordinate: str) -> None:
        option, known = item.name.text, self.context.local[coordinate]
        if option in _SPRING:
            expected = spring_dimensions(known.dimension)[option]
        else:
            expected = self._acting(item, option, coordinate, known.dimension)
        term = self.shop.formulas.read(value, expected, self.context)
        if option in _SPRING:
            self._spring_property(item, option, coordinate, term)
        else:
            self._force(item, option, coordinate, term)

    def _acting(self, item: x.Property, option: str, coordinate: str, dimension: Dim) -> Dim:
        """The dimension of a torque (on an angle) or force (on a displacement)."""
        wanted = NUMBER if option == "torque" else LENGTH
        if not self.shop.scope.dimensions.equal(dimension, wanted):
            other, kind = ("force", "length") if option == "torque" else ("torque", "angle")
            message = (
                f"coordinate '{coordinate}' is a{'n' * (kind == 'angle')} {kind}: a {other} acts on it, not a {option}."
            )
            self.shop.scope.fault(item.name, message)
        return ENERGY if option == "torque" else FORCE

    def _load_name(self, what: str, coordinate: str) -> str:
        return joint_load(self.joint, what, coordinate if len(self.coordinates) > 1 else "")

    def _force(self, item: x.Property, option: str, coordinate: str, term: Term) -> None:
        name, q = self._load_name(option, coordinate), self.coordinates[coordinate]
        if name in self.forces:
            self.shop.scope.fault(item.name, f"'{option}' of joint '{self.joint}' is given twice.")
        self.forces.add(name)
        self.loads.append(lambda: CoordinateForce(name, self.joint, q().name, term.build()))

    def _spring_property(self, item: x.Property, option: str, coordinate: str, term: Term) -> None:
        if coordinate not in self.springs:
            self.springs[coordinate] = {}
            self.loads.append(lambda: self._spring(coordinate))
        if option in self.springs[coordinate]:
            self.shop.scope.fault(item.name, f"'{option}' of joint '{self.joint}' is given twice.")
        self.springs[coordinate][option] = term
        self.items[coordinate, option] = item

    def check_rests(self) -> None:
        """Notes rests without a stiffness, which would do nothing."""
        for coordinate, terms in self.springs.items():
            if "rest" in terms and "stiffness" not in terms:
                item = self.items[coordinate, "rest"]
                self.shop.scope.fault(item.name, f"joint '{self.joint}' has a rest but no stiffness.", REST_HINT)

    def _spring(self, coordinate: str) -> Load:
        terms = self.springs[coordinate]
        values = [terms[option].build() if option in terms else as_expr(0) for option in _SPRING]
        name = self._load_name("spring", coordinate)
        return CoordinateSpring(name, self.joint, self.coordinates[coordinate]().name, *values)


def joint_loads(items: Items, joint: str, context: Context, coordinates: tuple[Callable[[], Coordinate], ...],
                shop: Workshop) -> Callable[[], list[Load]]:  # fmt: skip
    """The loads given as options of a joint, in the order of the text, ready to build."""
    options = _Options(joint, context, coordinates, shop)
    for item in items.properties(*OPTIONS):
        options.add(item)
    options.check_rests()
    return lambda: [build() for build in options.loads]
