"""What a text says of parts: their definitions and their uses."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.description.language.syntax.syntax_nodes import (
    Expression,
    Name,
    Node,
    ParameterIs,
    Property,
    Statement,
    Text,
)


@dataclass(frozen=True)
class Attachment(Node):
    """`chassis`, or `chassis to car`: a body that a part does not have itself, and what it is in a use."""

    name: Name
    to: Expression | None


@dataclass(frozen=True)
class PartHead(Statement):
    """`part corner(side, k = 20 kN/m) attach chassis, rack`, up to the first statement inside."""

    name: Name
    meaning: str
    parameters: tuple[ParameterIs, ...]
    attachments: tuple[Attachment, ...]


@dataclass(frozen=True)
class PartIs(Statement):
    """A part with the statements between its head and its `end`, and the names in those that could not be read."""

    head: PartHead
    statements: tuple[Statement, ...]
    doubtful: frozenset[str]

    @property
    def name(self) -> Name:
        return self.head.name


@dataclass(frozen=True)
class Index(Node):
    """`i = 1..20`: a whole number that counts instances."""

    name: Name
    first: str
    last: str


@dataclass(frozen=True)
class Origin(Node):
    """`from "corner.lsd"`."""

    file: Text


@dataclass(frozen=True)
class Mount(Node):
    """`at place @ body`: the frame that is the part's earth."""

    frame: Expression


@dataclass(frozen=True)
class Attached(Node):
    """`attach chassis to car, rack to [0, 0.1, 0] @ rack`."""

    attachments: tuple[Attachment, ...]


@dataclass(frozen=True)
class Mirrored(Node):
    """`mirrored front_left across [0, 1, 0]`; without a name it is the part itself that is mirrored."""

    name: Name | None
    normal: Expression


@dataclass(frozen=True)
class Chain(Node):
    """`chain tip to base`: the base of each instance is the tip of the one before."""

    tip: Name
    base: Name


UseClause = Origin | Mount | Attached | Mirrored | Chain


@dataclass(frozen=True)
class UseIs(Statement):
    """`use corner as front_left(k = 20 kN/m) at earth attach chassis to car`."""

    part: Name
    name: Name
    indices: tuple[Index, ...]
    values: tuple[Property, ...]
    clauses: tuple[UseClause, ...]
