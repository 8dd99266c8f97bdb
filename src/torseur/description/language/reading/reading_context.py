"""What the readers of statements share: the scope, the readers of formulas and places, and what is declared so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from torseur.algebra.graph import Expr, as_expr
from torseur.description.language.default_names import Names
from torseur.description.language.formulas.name_references import References
from torseur.description.language.formulas.name_scope import Context, Known, Scope
from torseur.description.language.formulas.read_places import Places
from torseur.description.language.formulas.scalar_formulas import Formulas, Term
from torseur.description.language.syntax import syntax_nodes as x
from torseur.errors import TorseurError

T = TypeVar("T")
S = TypeVar("S", bound="Named")
_IN_FORMULAS = ("parameter", "coordinate", "speed", "sensor", "definition", "state")
RESERVED = {
    "earth": ("the ground", ("body", "frame", "definition")),
    "t": ("time", _IN_FORMULAS),
    "pi": ("the number pi", _IN_FORMULAS),
}


class Named(Protocol):
    """A statement that may say its own name."""

    @property
    def name(self) -> x.Name | None: ...


class Workshop:
    """One text being read."""

    def __init__(self, scope: Scope, directory: Path | None) -> None:
        self.scope = scope
        self.directory = directory
        self.references = References(scope)
        self.formulas = Formulas(scope, self.references)
        self.places = Places(scope, self.formulas, self.references)
        self.references.formulas, self.references.places = self.formulas, self.places
        self.masses: dict[str, Term] = {}
        self.speeds: list[str] = []
        self.states: list[str] = []
        self.measures: dict[str, Callable[[], Expr]] = {}
        self.law_arguments: dict[str, dict[str, Known]] = {}
        self.defined_at: dict[str, x.Name] = {}

    def define(self, name: x.Name, kind: str, *known: Mapping[str, object]) -> bool:
        """Whether a name is free to be given; notes when it is not."""
        reserved, kinds = RESERVED.get(name.text, ("", ()))
        if kind in kinds:
            self.scope.fault(name, f"a {kind} cannot be called '{name.text}': that is {reserved}.")
            return False
        if any(name.text in names for names in known):
            self.scope.fault(name, f"'{name.text}' is defined twice{self._first(name.text)}.")
            return False
        self.defined_at[name.text] = name
        return True

    def _first(self, name: str) -> str:
        """Where a name was given before: itself, or the instance that brings it (left.hub comes with left)."""
        owner = name
        while owner not in self.defined_at and "." in owner:
            owner = owner.rpartition(".")[0]
        if owner not in self.defined_at:
            return ""
        how = "at" if owner == name else f"by the part '{owner}' at"
        return f", first {how} {self.place(self.defined_at[owner])}"

    def place(self, node: x.Node) -> str:
        """File, line and column."""
        source = self.scope.report.source
        line, column = source.position(node.start)
        return f"{source.file}:{line}:{column}"

    def statement_names(self, kind: str, statements: Sequence[S], default: Callable[[S], str]) -> list[str]:
        """A name for each statement: its own, or the default one, with a number where that is taken."""
        names = Names()
        # Written names first: a default must not take one that comes later in the text.
        for statement in statements:
            if statement.name is not None and self.define(statement.name, kind, dict.fromkeys(names.taken)):
                names.taken.add(statement.name.text)
        return [s.name.text if s.name is not None else names.unique(default(s)) for s in statements]

    def mass(self, body: str) -> Expr:
        """The mass given for a body; something of no consequence when that could not be read."""
        return self.masses[body].build() if body in self.masses else as_expr(1)

    def attempt(self, node: x.Node, make: Callable[[], T], instead: T) -> T:
        """What `make` gives, or something instead after noting why it refused."""
        try:
            return make()
        except TorseurError as problem:
            self.scope.fault(node, str(problem))
            return instead

    def check_definition(self, statement: x.DefinitionIs) -> None:
        """Reads a definition once even when nothing uses it, so that its faults are seen."""
        name, value = statement.name, statement.value
        reference = x.Reference(name.start, name.end, 1, (name.text,), 0)
        if isinstance(value, (x.Offset, x.TurnAbout)):
            self.places.placement(reference, Context(name.text))
        elif self.places.looks_like_vector(value):
            self.places.vector(reference, self.scope.dimensions.unknown(), Context(name.text))
        elif not isinstance(value, x.Reference) and not isinstance(value, x.Fresh):
            self.formulas.read(reference, None, Context(name.text))
