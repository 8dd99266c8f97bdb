"""Formulas over a motion, in the names of the mechanism: "kinetic_energy", "m1 * arm.velocity.x^2", "elbow.force.y".

The grammar is that of the language; names are those of states, parameters, and whatever can be asked of a motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torseur.algebra.graph import PI, Expr, as_expr
from torseur.algebra.spatial import Vec3
from torseur.computation.simulation.model.outputs_and_events import Output, formula_of
from torseur.computation.simulation.model.system import System
from torseur.description.language.description_errors import Report, Source
from torseur.description.language.formulas.frame_functions import FRAME_FUNCTIONS, FrameFunctionError, frame_call
from torseur.description.language.formulas.language_functions import FUNCTIONS, call_function
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.language.syntax.parser import parse_statements
from torseur.description.mechanism import TIME
from torseur.description.mechanism.units import Dimension, in_si, kind_of, si_name, unit_of
from torseur.errors import TorseurError, UnitError, unknown_name

NUMBER: Dimension = unit_of("1").dimension
_OPENING = "law formula() = "


@dataclass(frozen=True)
class Read:
    """A formula understood: its expression in the system's own inputs, and its dimension; None for bare numbers."""

    value: Expr
    dimension: Dimension | None
    spelled: str = ""

    @property
    def unit(self) -> str:
        """As the quantity itself has it, or made up from the dimension."""
        return self.spelled or (si_name(self.dimension) if self.dimension is not None else "1")


def read_formula(text: str, system: System) -> Read:
    """The formula a user wrote, as an expression of the inputs of the system."""
    return _Reader(text, system).read(_syntax(text))


def _syntax(text: str) -> x.Expression:
    """The formula as the language's grammar reads it."""
    # The language has no lone formula: it is read as that of a law, and columns are counted from behind its head.
    report = Report(Source(f"{_OPENING}{text} ;", "formula"))
    parsed = parse_statements(report.source, report)
    if report.diagnostics:
        first = report.diagnostics[0]
        place = max(1, min(first.column - len(_OPENING), len(text)))
        raise TorseurError(f"'{text}' cannot be read: {first.message} {first.hint}(character {place})")
    law = parsed.statements[0] if len(parsed.statements) == 1 else None
    if not isinstance(law, x.LawIs) or law.formula is None:
        raise TorseurError(f"'{text}' is not a formula.")
    return law.formula


class _Reader:
    """Walks a formula, resolving names and checking dimensions."""

    def __init__(self, text: str, system: System) -> None:
        self.text = text
        self.system = system
        self.readers: dict[type, Callable[..., Read]] = {
            x.Number: self._number, x.Reference: self._reference, x.Call: self._call, x.Sum: self._sum,
            x.Product: self._product, x.Negative: self._negative, x.Power: self._power,
        }  # fmt: skip

    def read(self, node: x.Expression) -> Read:
        reader = self.readers.get(type(node))
        if reader is None:
            raise TorseurError(f"'{self.text}': {self._excerpt(node)} is not a number or a formula.")
        return reader(node)

    def _excerpt(self, node: x.Node) -> str:
        return f"'{self.text[node.start - len(_OPENING) : node.end - len(_OPENING)].strip()}'"

    def _number(self, node: x.Number) -> Read:
        try:
            dimension = None if node.unit is None else unit_of(node.unit).dimension
            return Read(in_si(node.text, node.unit or "1"), dimension)
        except UnitError as problem:
            raise TorseurError(f"'{self.text}': {problem}") from problem

    def _reference(self, node: x.Reference) -> Read:
        name = node.name + "'" * node.primes
        if name == "pi":
            return Read(PI, None)
        if name == "t":
            return Read(TIME, unit_of("s").dimension)
        return self._quantity(name)

    def _quantity(self, name: str) -> Read:
        system = self.system
        parameters = {quantity.name: slot for slot, quantity in enumerate(system.parameters)}
        states = {quantity.name: quantity for quantity in system.states}
        if name in parameters:
            slot = parameters[name]
            nodes = system.rhs.input("p").nodes  # type: ignore[union-attr]
            return _with_unit(nodes[slot], system.parameters[slot].unit)
        if name not in states and name not in system.quantities:
            raise TorseurError(_unknown(name, self.text, system))
        unit = states[name].unit if name in states else system.quantities[name][0].unit
        return _with_unit(formula_of(Output(name), system), unit)

    def _call(self, node: x.Call) -> Read:
        if node.function.name in FRAME_FUNCTIONS:
            return self._frame_function(node)
        name, arguments = node.function.name, [self.read(argument) for argument in node.arguments]
        if name not in FUNCTIONS:
            known = [*FUNCTIONS, *FRAME_FUNCTIONS]
            raise TorseurError(unknown_name("function", name, known, f"'{self.text}': "))
        function = FUNCTIONS[name]
        if len(arguments) != function.arity:
            raise TorseurError(f"'{self.text}': {name} takes {function.arity} arguments, got {len(arguments)}.")
        if node.about is not None:
            raise TorseurError(f"'{self.text}': {name} has no 'about'.")
        alike = self._common(node, arguments[1:] if name == "where" else arguments)
        if function.rule == "number" and alike not in (None, NUMBER):
            raise TorseurError(f"'{self.text}': {name} takes plain numbers, not a {kind_of(alike)}.")
        value = call_function(name, [argument.value for argument in arguments])
        if function.rule == "same":
            return Read(value, alike)
        half = None if alike is None else tuple(e / 2 for e in alike)
        if name in ("atan2", "asin", "acos", "atan"):
            return Read(value, NUMBER, "rad")
        return Read(value, half if function.rule == "root" else NUMBER)

    def _frame_function(self, node: x.Call) -> Read:
        """An angle between directions, or the distance of points."""
        try:
            call = frame_call(node)
        except FrameFunctionError as problem:
            raise TorseurError(f"'{self.text}': {self._excerpt(problem.node)}: {problem}") from problem
        for _, part in (term for vector in call.vectors for component in vector for term in component):
            if isinstance(part, x.Reference):
                self._require_frame(".".join(part.path[:-2]))
        vectors = [
            Vec3(*(sum((sign * self.read(part).value for sign, part in c), as_expr(0)) for c in vector))
            for vector in call.vectors
        ]
        if call.name == "distance":
            return Read(call.value(vectors), unit_of("m").dimension, "m")
        return Read(call.value(vectors), NUMBER, "rad")

    def _require_frame(self, name: str) -> None:
        programs = self.system.programs
        if programs is None or f"{name}.position.x" in self.system.quantities:
            return
        mechanism = programs.equations.mechanism
        known = [*(body.name for body in mechanism.bodies), *(frame for frame, _ in mechanism.frames)]
        raise TorseurError(unknown_name("body or frame", name, known, f"'{self.text}': "))

    def _common(self, node: x.Node, parts: Sequence[Read]) -> Dimension | None:
        """The dimension that parts share; bare numbers take that of the others."""
        known = [part.dimension for part in parts if part.dimension is not None]
        for dimension in known[1:]:
            if dimension != known[0]:
                kinds = f"a {kind_of(known[0])} and a {kind_of(dimension)}"
                raise TorseurError(f"'{self.text}': {self._excerpt(node)} combines {kinds}.")
        return known[0] if known else None

    def _sum(self, node: x.Sum) -> Read:
        parts = [self.read(part) for _, part in node.terms]
        total = parts[0].value
        for (sign, _), part in zip(node.terms[1:], parts[1:], strict=True):
            total = total + part.value if sign == "+" else total - part.value
        return Read(total, self._common(node, parts))

    def _product(self, node: x.Product) -> Read:
        parts = [self.read(part) for _, part in node.factors]
        total, dimension = parts[0].value, parts[0].dimension
        for (sign, _), part in zip(node.factors[1:], parts[1:], strict=True):
            total = total * part.value if sign == "*" else total / part.value
            if part.dimension is not None:
                power = 1 if sign == "*" else -1
                dimension = tuple(a + power * b for a, b in zip(dimension or NUMBER, part.dimension, strict=True))
        return Read(total, dimension)

    def _negative(self, node: x.Negative) -> Read:
        inside = self.read(node.operand)
        return Read(-inside.value, inside.dimension)

    def _power(self, node: x.Power) -> Read:
        base, exponent = self.read(node.base), self.read(node.exponent)
        value = call_function("pow", [base.value, exponent.value])
        if base.dimension in (None, NUMBER):
            return Read(value, base.dimension)
        if not exponent.value.is_constant:
            raise TorseurError(f"'{self.text}': a {kind_of(base.dimension)} needs a number as exponent.")
        power = float(exponent.value.value)
        return Read(value, tuple(power * e for e in base.dimension or NUMBER))


def _with_unit(value: Expr, unit: str) -> Read:
    return Read(value, unit_of(unit).dimension, unit)


def _unknown(name: str, text: str, system: System) -> str:
    known = [q.name for q in (*system.states, *system.parameters)] + list(system.quantities)
    where = "" if name == text.strip() else f"'{text}': "
    message = unknown_name("quantity", name, known, where)
    return f"{message} The motion of a body reads BODY.position.x, a reaction JOINT.force.y, a power NAME.power."
