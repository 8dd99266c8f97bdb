"""What each name of a text stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from torseur.algebra.graph import PI, Expr, Table, UndeterminedFunction
from torseur.description.language.default_names import Names
from torseur.description.language.description_errors import Report, unknown
from torseur.description.language.formulas.dimensions import NUMBER, TIME, Dim, Dimensions
from torseur.description.language.syntax.syntax_nodes import Expression, Node
from torseur.description.mechanism import TIME as TIME_SYMBOL
from torseur.description.mechanism import Frame, Sensor, Use


@dataclass(frozen=True)
class Known:
    """A quantity: its dimension, how to build its expression once all dimensions are known, and its rate."""

    dimension: Dim
    build: Callable[[], Expr]
    rate: Known | None = None
    literal: bool = False


class Deferred:
    """An expression built when first asked for; a definition that leads back to itself is noted instead."""

    def __init__(self, build: Callable[[], Expr], fault: Callable[[], None]) -> None:
        self._build, self._fault = build, fault
        self._value: Expr | None = None
        self._running = False

    def __call__(self) -> Expr:
        if self._running:
            self._fault()
            return PI
        if self._value is None:
            self._running = True
            self._value = self._build()
            self._running = False
        return self._value


@dataclass(frozen=True)
class Function:
    """A function: an undetermined one or a law (dimensions of arguments, None where any will do) or a table."""

    arguments: tuple[Dim | None, ...]
    result: Dim
    build: Callable[[], UndeterminedFunction | Table]


@dataclass(frozen=True)
class Placed:
    """A frame: the body it is fixed in, and how to build it."""

    body: str
    build: Callable[[], Frame]


@dataclass(frozen=True)
class JointNames:
    """A joint's coordinates by the names written in it, and the full name of each."""

    name: str
    full: Mapping[str, str]


@dataclass(frozen=True)
class Context:
    """Where a formula stands: what owns it, the names that hold only there, and its slot (see SLOTS), if it has one."""

    owner: str
    local: Mapping[str, Known] = field(default_factory=dict)
    slot: str = ""

    def within(self, slot: str) -> Context:
        """The same place, its formulas in a slot."""
        return replace(self, slot=slot)


@dataclass
class Scope:
    """All names of one text, filled while its declarations are read, then asked by every formula."""

    report: Report
    doubtful: frozenset[str]
    dimensions: Dimensions = field(default_factory=Dimensions)
    quantities: dict[str, Known] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    definitions: dict[str, Expression] = field(default_factory=dict)
    bodies: dict[str, Mapping[str, Known]] = field(default_factory=dict)
    frames: dict[str, Placed] = field(default_factory=dict)
    joints: dict[str, JointNames] = field(default_factory=dict)
    qualifiers: dict[str, JointNames] = field(default_factory=dict)
    sensors: dict[str, Callable[[], Sensor]] = field(default_factory=dict)
    fresh: dict[str, Known] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    uses: list[tuple[Node, Use]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.quantities["t"] = Known(TIME, lambda: TIME_SYMBOL)
        self.quantities["pi"] = Known(NUMBER, lambda: PI, literal=True)

    def note_use(self, node: Node, context: Context, formulas: Sequence[Expr]) -> None:
        """Keeps formulas that were built, with their slot: laws they call may not have been read yet."""
        if context.slot:
            own = tuple(str(known.build().name) for known in context.local.values())
            self.uses.append((node, Use(context.slot, context.owner, formulas, own)))

    def fault(self, node: Node, message: str, hint: str = "") -> None:
        """Notes a fault at a piece of the text."""
        self.report.add(node.start, node.end, message, hint)

    def unknown(self, node: Node, kind: str, name: str, known: Iterable[str]) -> None:
        """Notes a name that means nothing here, unless the statement that gives it could not be read."""
        if name.partition(".")[0] not in self.doubtful:
            self.fault(node, *unknown(kind, name, known))

    def excerpt(self, node: Node) -> str:
        return self.report.source.excerpt(node.start, node.end)
