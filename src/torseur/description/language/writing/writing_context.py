"""What the writers of statements share: how formulas, vectors, placements and frames are written in one mechanism."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torseur.algebra.graph import Expr, UndeterminedFunction, live_nodes
from torseur.description.language.formulas.dimensions import LENGTH, NUMBER, Dim, dimension_of
from torseur.description.language.writing.expression_dimensions import Sizes, first_known
from torseur.description.language.writing.own_content import Own
from torseur.description.language.writing.words import name_text, number_text
from torseur.description.language.writing.write_formula import Formulas
from torseur.description.mechanism import (
    EARTH_NAME,
    HERE,
    TIME,
    Frame,
    Mechanism,
    Placement,
    Turn,
    Vector,
    implied_symbols,
)
from torseur.description.mechanism.units import si_name
from torseur.errors import UnsupportedError

WIDTH = 110


@dataclass(frozen=True)
class Place:
    """Where a formula stands: what owns it, the names that hold only there, whether speeds may be named in it."""

    owner: str
    names: Mapping[Expr, str] = field(default_factory=dict)
    after_joints: bool = False


class Script:
    """Writes the parts of one mechanism.

    The short form leaves out what the reader would say itself: names it would give, constants and functions that
    occur once (`?k`), sensors that formulas mention. The plain form spells everything.
    """

    def __init__(self, mechanism: Mechanism, own: Own, expressions: Sequence[Expr], short: bool) -> None:
        self.mechanism, self.own, self.short = mechanism, own.content, short
        laws = {law.function: [dimension_of(a.data.unit) for a in law.arguments] for law in mechanism.laws}
        self.formulas = Formulas(laws, Sizes(), {})
        self._with_speeds = Formulas(laws, self.formulas.sizes, _speeds(mechanism) if short else {})
        self.functions = _functions(expressions)
        self.tables = {n.data.table.name: n.data.table for n in live_nodes(expressions) if n.op == "table"}
        self.written_fresh: set[str] = set()
        self.mentioned: set[str] = set()
        self._uses = Counter(node.data.name for e in expressions for node in _occurrences(e))
        self._undetermined = self._candidates() if short else set()
        self._defined = {law.name for law in mechanism.laws}
        self._frames = {frame: name for name, frame in mechanism.frames if not frame.placement.is_identity}
        self._known = self._known_symbols()

    def _candidates(self) -> set[str]:
        """Parameters that `?` may stand for: no value, no meaning, used once, and after all that must be declared."""
        names = set()
        # The reader appends fresh constants to the parameters, so that only the last ones can have been fresh.
        for p in reversed(self.own.parameters):
            if p.value is not None or p.meaning or p.unit != p.si_unit or self._uses[p.name] != 1:
                break
            names.add(p.name)
        return names

    def _known_symbols(self) -> set[Expr]:
        known = {TIME, *(p.symbol for p in self.mechanism.parameters), *(s.symbol for s in self.mechanism.sensors)}
        for joint in self.mechanism.joints:
            known |= {symbol for q in joint.coordinates for symbol in (q.symbol, q.rate)}
        known |= {symbol for state in self.mechanism.states for symbol in (state.symbol, state.rate)}
        for body in self.mechanism.bodies:
            known |= set(implied_symbols(body.name).values())
        return known

    # Formulas

    def formula(self, node: Expr, want: Dim | None, place: Place) -> str:
        """An expression as text of the wanted dimension."""
        formulas = self._with_speeds if place.after_joints else self.formulas
        return formulas.write(node, want, lambda leaf: self._name(leaf, place))

    def _name(self, leaf: Expr, place: Place) -> str | None:
        if leaf in place.names:
            return place.names[leaf]
        if leaf.op == "apply":
            return self._fresh_function(leaf, place)
        if leaf.op != "symbol":
            return None
        # A symbol that nothing declares would come back as an unknown name.
        if leaf not in self._known:
            raise UnsupportedError(
                f"'{leaf.name}' in {place.owner or 'a formula'} is not declared: make it a parameter."
            )
        name = str(leaf.name)
        self.mentioned.add(name)
        label = self._label(name, place)
        if label is None:
            return _coordinate_text(name)
        self.written_fresh.add(name)
        return f"?{label}"

    def _label(self, name: str, place: Place) -> str | None:
        """The part of an undetermined constant's name after its owner's."""
        prefix = f"{place.owner}."
        if name not in self._undetermined or not name.startswith(prefix) or "." in name[len(prefix) :]:
            return None
        return name_text(name[len(prefix) :])

    def _fresh_function(self, leaf: Expr, place: Place) -> str | None:
        function = leaf.data.function
        prefix = f"{place.owner}."
        label = function.name.removeprefix(prefix)
        single = self._uses[function.name] == 1 and not function.meaning and function.name not in self._defined
        if not (self.short and single and function.name.startswith(prefix) and "." not in label):
            return None
        self.written_fresh.add(function.name)
        return f"?{name_text(label)}"

    # Vectors

    def vector(self, vector: Vector, want: Dim, place: Place) -> str:
        """Three components of one dimension; plain numbers share the unit after the bracket."""
        # `?F` before brackets: three constants named after one label were one mark in the text.
        fresh = self._fresh_vector(vector, place)
        if fresh is not None:
            return fresh
        plain = all(c.is_constant and isinstance(c.value, (int, float)) for c in vector)
        if plain and want != NUMBER and not all(c.is_zero for c in vector):
            return f"[{', '.join(number_text(c.value) for c in vector)}] {si_name(want.exponents)}"
        return f"[{', '.join(self.formula(c, want, place) for c in vector)}]"

    def _fresh_vector(self, vector: Vector, place: Place) -> str | None:
        names = [str(c.name) if c.op == "symbol" else "" for c in vector]
        base = names[0].removesuffix(".x")
        label = base.removeprefix(f"{place.owner}.")
        undetermined = all(name in self._undetermined for name in names)
        if not undetermined or names != [f"{base}.{axis}" for axis in "xyz"] or label == base or "." in label:
            return None
        self.written_fresh |= set(names)
        return f"?{name_text(label)}"

    def undetermined_components(self, vector: Vector, owner: str) -> bool:
        """Whether a load's components are the symbols the reader gives when none are written."""
        names = [str(c.name) if c.op == "symbol" else "" for c in vector]
        if names != [f"{owner}.{axis}" for axis in "xyz"] or not all(name in self._undetermined for name in names):
            return False
        self.written_fresh |= set(names)
        return True

    def direction(self, axis: Vector, place: Place) -> str:
        """A direction: components of whatever dimension the first has."""
        naturals = [self.formulas.sizes.natural(component) for component in axis]
        want = None if all(n is None for n in naturals) else first_known(naturals)
        return f"[{', '.join(self.formula(component, want, place) for component in axis)}]"

    # Places

    def rotation(self, turns: Sequence[Turn], place: Place) -> str:
        """Turns as a product; 1 for none."""
        parts = [f"({self.formula(t.angle, NUMBER, place)} || {self.direction(t.axis, place)})" for t in turns]
        return " * ".join(parts) or "1"

    def placement(self, placement: Placement, place: Place) -> str:
        """A position, a rotation, or both; 0 for neither."""
        if placement.is_identity:
            return "0"
        position = self.vector(placement.position, LENGTH, place)
        if not placement.rotation:
            return position
        rotation = self.rotation(placement.rotation, place)
        if placement == Placement(rotation=placement.rotation):
            return rotation
        return f"{position} ++ {rotation}"

    def point(self, frame: Frame, place: Place) -> str:
        """A frame where a body may stand for its own."""
        return self.frame(frame, place).removesuffix(".frame")

    def frame(self, frame: Frame, place: Place, by_name: bool = True) -> str:
        """A frame by its name, or by its placement in a body."""
        if by_name and frame in self._frames:
            return name_text(self._frames[frame])
        body = name_text(frame.body)
        if frame.placement == HERE:
            return body if frame.body == EARTH_NAME else f"{body}.{frame.base}"
        base = f"{body}.iframe" if frame.base == "iframe" else body
        return f"{self.placement(frame.placement, place)} @ {base}"


def _speeds(mechanism: Mechanism) -> dict[Expr, tuple[str, Dim]]:
    """Quasi-velocities as names for their expressions."""
    return {
        speed.value: (name_text(speed.name), dimension_of(speed.unit))
        for joint in mechanism.joints
        for speed in joint.speeds
        if speed.value.args
    }


def _coordinate_text(name: str) -> str:
    """A name, its primes outside any quotes."""
    bare = name.rstrip("'")
    return name_text(bare) + name[len(bare) :]


def _functions(expressions: Sequence[Expr]) -> dict[str, UndeterminedFunction]:
    """Undetermined functions by name; refuses two of one name."""
    functions: dict[str, UndeterminedFunction] = {}
    for node in live_nodes(expressions):
        if node.op == "apply":
            function = node.data.function
            if functions.setdefault(function.name, function) != function:
                raise UnsupportedError(f"two different functions are called '{function.name}'.")
    return functions


def _occurrences(expression: Expr) -> list[Expr]:
    """Symbols and functions of an expression; twice where two operations use one."""
    nodes = live_nodes([expression])
    leaves = [a for node in nodes for a in node.args if a.op in ("symbol", "apply")]
    return [*leaves, *([expression] if expression.op in ("symbol", "apply") else [])]
