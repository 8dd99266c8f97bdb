"""What a text says, before names and units are understood: frozen nodes with their place in the text."""

from __future__ import annotations

from dataclasses import dataclass

from torseur.description.language.syntax.formula_nodes import Bracket as Bracket
from torseur.description.language.syntax.formula_nodes import Call as Call
from torseur.description.language.syntax.formula_nodes import Comparison as Comparison
from torseur.description.language.syntax.formula_nodes import Expression as Expression
from torseur.description.language.syntax.formula_nodes import FixedIn as FixedIn
from torseur.description.language.syntax.formula_nodes import Fresh as Fresh
from torseur.description.language.syntax.formula_nodes import Negative as Negative
from torseur.description.language.syntax.formula_nodes import Node as Node
from torseur.description.language.syntax.formula_nodes import Number as Number
from torseur.description.language.syntax.formula_nodes import Offset as Offset
from torseur.description.language.syntax.formula_nodes import Power as Power
from torseur.description.language.syntax.formula_nodes import Product as Product
from torseur.description.language.syntax.formula_nodes import Reference as Reference
from torseur.description.language.syntax.formula_nodes import Sum as Sum
from torseur.description.language.syntax.formula_nodes import TurnAbout as TurnAbout


@dataclass(frozen=True)
class Name(Node):
    """A name that is being given or referred to."""

    text: str


@dataclass(frozen=True)
class Text(Node):
    """A string."""

    text: str


@dataclass(frozen=True)
class Property(Node):
    """`mass = 3 kg`, or `torque(q1) = ...` for one coordinate; `within` is what follows the `in` of a speed."""

    name: Name
    of: Reference | None
    value: Expression | Text
    within: Expression | None = None


@dataclass(frozen=True)
class Clause(Node):
    """A word and its value: `about [0,0,1]`, `along`, `at`, `then`, `angles xyz`."""

    word: str
    value: Expression


@dataclass(frozen=True)
class Shape(Node):
    """The name of a solid; its properties follow."""

    name: Name


@dataclass(frozen=True)
class TableFile(Node):
    """`table "file.csv"` in a joint."""

    file: Text


@dataclass(frozen=True)
class SpeedsFollow(Node):
    """`speeds`: names and properties after it are speeds; `speeds in chassis` is all six, unnamed."""

    body: Reference | None


@dataclass(frozen=True)
class StopsAt(Node):
    """`stops -30 deg, 90 deg restitution 0.2`: where a coordinate stops, and how, as clauses."""

    of: Reference | None
    lower: Expression | None
    upper: Expression | None
    parts: tuple[Clause, ...]


Item = Property | Clause | Shape | TableFile | SpeedsFollow | StopsAt


@dataclass(frozen=True)
class SpeedGroup(Node):
    """`u = expression`, or `vx, vy, vz = velocity in chassis`."""

    names: tuple[Name, ...]
    value: Expression
    within: Expression | None


@dataclass(frozen=True)
class Declared(Node):
    """A coordinate, an argument or a parameter as declared: name, unit, meaning."""

    name: Name
    unit: Expression | None
    meaning: str


@dataclass(frozen=True)
class Statement(Node):
    """One fact, from its first word to its semicolon."""


@dataclass(frozen=True)
class MechanismIs(Statement):
    name: Name
    meaning: str


@dataclass(frozen=True)
class ParameterIs(Statement):
    declared: Declared
    value: Expression | None


@dataclass(frozen=True)
class GravityIs(Statement):
    value: Expression


@dataclass(frozen=True)
class BodyIs(Statement):
    name: Name
    items: tuple[Item, ...]
    meaning: str


@dataclass(frozen=True)
class DefinitionIs(Statement):
    """A named frame, vector or expression."""

    name: Name
    value: Expression


@dataclass(frozen=True)
class JointIs(Statement):
    """`join A and B`; with `to` instead of `and` the order holds even when B is the earth."""

    first: Expression
    second: Expression
    ordered: bool
    name: Name | None
    kind: Name
    coordinates: tuple[Declared, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True)
class InitialIs(Statement):
    of: Reference
    value: Expression
    is_guess: bool


@dataclass(frozen=True)
class ActuatedIs(Statement):
    """A coordinate that a motor drives."""

    of: Reference


@dataclass(frozen=True)
class LawIs(Statement):
    """A function of arguments: with its formula, or undetermined."""

    name: Name
    arguments: tuple[Declared, ...]
    unit: Expression | None
    formula: Expression | None
    meaning: str


@dataclass(frozen=True)
class TableIs(Statement):
    """A function given by points, in the text or in a file."""

    name: Name
    unit: Expression | None
    degree: Number | None
    points: tuple[Expression, ...] | Text


@dataclass(frozen=True)
class StateIs(Statement):
    """`i = 0 A`, the initial value of a state beyond mechanics, or `i' = formula`, its rate."""

    of: Reference
    value: Expression
    unit: Expression | None
    meaning: str

    @property
    def name(self) -> Name:
        return Name(self.of.start, self.of.end, self.of.name)


@dataclass(frozen=True)
class StateEquationIs(Statement):
    """An equation between rates of states."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class NewValue(Node):
    """`u = formula`, what a state becomes at an update."""

    of: Reference
    value: Expression


@dataclass(frozen=True)
class UpdateIs(Statement):
    """`every 1 ms: u = kp*(goal - q)` or `when x > 1 m: u = 0 N`."""

    period: Expression | None
    condition: Expression | None
    values: tuple[NewValue, ...]
    name: Name | None


@dataclass(frozen=True)
class SensorIs(Statement):
    name: Name
    quantity: Reference
    of: Expression
    axes: Expression | None


@dataclass(frozen=True)
class MeasureIs(Statement):
    """`measure camber = angle(wheel.z, earth.z about chassis.x) "camber"`."""

    name: Name
    formula: Expression
    meaning: str


@dataclass(frozen=True)
class WrenchPart(Node):
    """`force [x, y, z]`, or `force body = B end` with undetermined components."""

    kind: str
    value: Expression | None
    items: tuple[Item, ...]


@dataclass(frozen=True)
class WrenchIs(Statement):
    """Force and torque on a frame, a coordinate or (`on joint J`) in a joint."""

    parts: tuple[WrenchPart, ...]
    axes: Expression | None
    target: Expression
    in_joint: bool
    name: Name | None


@dataclass(frozen=True)
class SpringIs(Statement):
    """A spring or bushing between two frames, or a spring on a coordinate."""

    kind: str
    items: tuple[Item, ...]
    ends: tuple[Expression, Expression] | None
    coordinate: Reference | None
    name: Name | None


@dataclass(frozen=True)
class Loose(Node):
    """`play 1 deg restitution 0.2` of a relation."""

    amount: Expression
    restitution: Expression | None


@dataclass(frozen=True)
class BoundIs(Statement):
    """`constrain q >= 0 restitution 0.5`."""

    comparison: Expression
    restitution: Expression | None
    name: Name | None


@dataclass(frozen=True)
class FrictionIs(Statement):
    """`apply friction force = 3 N against x' - v0`."""

    items: tuple[Property, ...]
    slips: tuple[Expression, ...]
    on: Name | None
    name: Name | None


@dataclass(frozen=True)
class ContactIs(Statement):
    """`contact foot.sphere radius 2 cm with earth normal [0,0,1] friction 0.8`."""

    shape: Reference
    sizes: tuple[Clause, ...]
    ground: Reference
    conditions: tuple[Clause, ...]
    name: Name | None


@dataclass(frozen=True)
class EquationIs(Statement):
    left: Expression
    right: Expression
    loose: Loose | None
    within: Expression | None
    name: Name | None


@dataclass(frozen=True)
class DistanceIs(Statement):
    first: Expression
    second: Expression
    value: Expression
    within: Expression | None
    name: Name | None


@dataclass(frozen=True)
class RollingIs(Statement):
    wheel: Expression
    radius: Expression
    tyre: Expression | None
    on: Expression
    normal: Expression
    within: Expression | None
    name: Name | None


@dataclass(frozen=True)
class DrawingIs(Statement):
    """`draw spring radius = r between A and B`: a kind, its text or file, its sizes, and where it lies."""

    kind: Name
    text: Text | None
    items: tuple[Item, ...]
    word: str
    places: tuple[Expression, ...]
