"""What switches along a motion: bounds that are hit and rested on, dry friction that sticks and slides.

Between two switches the motion obeys ordinary equations; which ones is decided by forces and speeds on the way.
Analyses that take one set of equations for the whole motion refuse mechanisms that have such elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torseur.algebra.graph import Expr, ExprLike, as_expr, symbol, symbols_of
from torseur.algebra.graph.scalar import maximum, tanh, where
from torseur.description.mechanism.bodies import Body, frame_of
from torseur.description.mechanism.frames import EARTH, Frame
from torseur.description.mechanism.joints import Joint
from torseur.description.mechanism.loads import CoordinateForce
from torseur.description.mechanism.quantities import Coordinate, State, Vector, as_vector
from torseur.errors import MechanismError, unknown_name

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Bound:
    """gap >= 0 (m or rad), a formula of coordinates, positions, time and parameters.

    Where it would become negative the bodies rebound: its rate changes sign and is multiplied by `restitution`.
    """

    name: str
    gap: Expr
    restitution: Expr


@dataclass(frozen=True)
class DryFriction:
    """Friction against the speeds `slip`, one or two formulas linear in rates; two are components of one velocity.

    It holds the slip at zero while that takes no more than the limit, and opposes it by the limit otherwise. The limit
    is force + coefficient N, with N the force that presses the element `on` together: a bound, a constraint or a
    contact. At rest it is breakaway + static N instead, where these are given; while sliding with speed s it falls from
    there to the former by exp(-(s / stribeck)²), or at once without a `stribeck` speed.
    """

    name: str
    slip: tuple[Expr, ...]
    force: Expr
    coefficient: Expr
    on: str = ""
    breakaway: Expr | None = None
    static: Expr | None = None
    stribeck: Expr | None = None


@dataclass(frozen=True)
class Contact:
    """A convex shape of a body, placed by `frame`, on a plane or a sphere of another body, placed by `ground`.

    Shapes with their sizes (m): point; sphere, radius; disc, radius, about the z axis of the frame; torus, radius of
    its rim and tyre around it; ellipsoid, semiaxes x, y and z; capsule, radius and length along z; box, full sizes x, y
    and z. The plane goes through the origin of `ground` with its `normal`; a sphere has `ground_radius` instead, and a
    height field the `height` along z of the ground's frame, a formula of GROUND_X and GROUND_Y.
    `coefficient` is that of Coulomb's friction, `static` that at rest where it is another.
    """

    name: str
    shape: str
    frame: Frame
    sizes: tuple[tuple[str, Expr], ...]
    ground: Frame
    normal: Vector | None
    ground_radius: Expr | None
    coefficient: Expr
    static: Expr | None
    restitution: Expr
    height: Expr | None = None


@dataclass(frozen=True)
class Update:
    """New values of states, `targets` ← `values`, all at once: every `period` seconds, the first time at the start of
    the motion, or each time the formula `condition` becomes positive.

    What is not updated goes on; a state with the rate 0 is held in between.
    """

    name: str
    targets: tuple[Expr, ...]
    values: tuple[Expr, ...]
    period: Expr | None = None
    condition: Expr | None = None


# Where a height field is asked for its height, in the axes of the ground's frame.
GROUND_X, GROUND_Y = (symbol(f"{axis} on a height field", "m") for axis in "xy")

# Sizes that each shape has, in their order.
SHAPE_SIZES: dict[str, tuple[str, ...]] = {
    "point": (),
    "sphere": ("radius",),
    "disc": ("radius",),
    "torus": ("radius", "tyre"),
    "ellipsoid": ("x", "y", "z"),
    "capsule": ("radius", "length"),
    "box": ("x", "y", "z"),
}
Switching = Bound | DryFriction | Contact | Update


def as_contacts(given: Iterable[Switching | Iterable[Switching]]) -> tuple[Switching, ...]:
    """Elements that switch in one row: `stops` and `play` give several at once."""
    flat: list[Switching] = []
    for entry in given:
        entries = [entry] if isinstance(entry, Switching) else list(entry) if isinstance(entry, Iterable) else [entry]
        for element in entries:
            if not isinstance(element, Switching):
                raise MechanismError(
                    f"contacts: expected what bound, stops, play, joint_friction, contact or update give, got "
                    f"{element!r}."
                )
            flat.append(element)
    return tuple(flat)


def bound(name: str, gap: ExprLike, restitution: ExprLike = 0) -> Bound:
    """gap >= 0: where the gap would become negative, bodies rebound with that restitution."""
    return Bound(name, as_expr(gap), as_expr(restitution))


@dataclass(frozen=True)
class Ground:
    """What a contact is with: a plane through a frame's origin, a sphere about it, or heights above its xy plane."""

    frame: Frame
    normal: Vector | None = None
    radius: Expr | None = None
    height: Expr | None = None


def plane(on: Frame | Body = EARTH, normal: Sequence[Any] = (0, 0, 1)) -> Ground:
    """The plane through the origin of a frame, with its outward normal in the axes of that frame."""
    return Ground(frame_of(on, "plane"), as_vector(normal, "normal of a plane"))


def ball(on: Frame | Body, radius: ExprLike) -> Ground:
    """The sphere of that radius (m) about the origin of a frame."""
    return Ground(frame_of(on, "ball"), None, as_expr(radius))


def height_field(on: Frame | Body, height: Callable[[Expr, Expr], ExprLike]) -> Ground:
    """Ground of the height z = height(x, y) (m) in a frame, a smooth function: height_field(EARTH, hills).

    `height` is a law or a Python function of two expressions, such as lambda x, y: 0.1 * ts.sin(2 * x).
    """
    return Ground(frame_of(on, "height field"), height=as_expr(height(GROUND_X, GROUND_Y)))


def contact(
    name: str,
    shape: str,
    frame: Frame | Body,
    sizes: Mapping[str, ExprLike] | None = None,
    ground: Ground | None = None,
    friction: ExprLike = 0,
    static: ExprLike | None = None,
    restitution: ExprLike = 0,
) -> Contact:
    """A shape of a body that touches a plane or a sphere of another; without one, the plane z = 0 of the earth.

    contact("foot", "sphere", leg, {"radius": 0.02}, friction=0.8): see `Contact` for shapes and their sizes.
    """
    owner, given, other = f"contact '{name}'", dict(sizes or {}), plane() if ground is None else ground
    if shape not in SHAPE_SIZES:
        raise MechanismError(unknown_name("shape", shape, SHAPE_SIZES, f"{owner}: "))
    if not isinstance(other, Ground):
        raise MechanismError(
            f"{owner}: the ground is plane(frame, normal), ball(frame, radius) or height_field(frame, height), not "
            f"{other!r}."
        )
    for size in (*SHAPE_SIZES[shape], *given):
        if size not in given or size not in SHAPE_SIZES[shape]:
            wanted = ", ".join(SHAPE_SIZES[shape]) or "no sizes"
            fault = "one too many" if size in given else "missing"
            raise MechanismError(f"{owner}: a {shape} has {wanted}; '{size}' is {fault}.")
    values = tuple((size, as_expr(given[size])) for size in SHAPE_SIZES[shape])
    resting = None if static is None else as_expr(static)
    place = frame_of(frame, owner)
    return Contact(
        name, shape, place, values, other.frame, other.normal, other.radius, as_expr(friction), resting,
        as_expr(restitution), other.height,
    )  # fmt: skip


def update(
    name: str, values: Mapping[State, ExprLike], *, every: ExprLike | None = None, when: ExprLike | None = None
) -> Update:
    """New values of states every so many seconds, or whenever a formula becomes positive.

    A controller that samples: update("control", {u: kp * (goal - q)}, every=0.001), with the state u of rate 0.
    """
    if (every is None) == (when is None):
        raise MechanismError(f"update '{name}': give either its period (every=...) or its condition (when=...).")
    if not values:
        raise MechanismError(f"update '{name}': there is no state that gets a new value.")
    for state in values:
        if not isinstance(state, State):
            raise MechanismError(f"update '{name}': expected states with their new values, got {state!r}.")
    period, condition = (None if given is None else as_expr(given) for given in (every, when))
    targets, formulas = tuple(state.symbol for state in values), tuple(as_expr(value) for value in values.values())
    return Update(name, targets, formulas, period, condition)


def stops(
    joint: Joint,
    lower: ExprLike | None = None,
    upper: ExprLike | None = None,
    restitution: ExprLike = 0,
    coordinate: str | None = None,
) -> tuple[Bound, ...]:
    """Rigid stops of a joint's coordinate, named after the joint: `knee.lower` and `knee.upper`."""
    q, name = stopped_coordinate(joint, coordinate)
    sides: list[tuple[str, Expr]] = []
    if lower is not None:
        sides.append(("lower", q.symbol - as_expr(lower)))
    if upper is not None:
        sides.append(("upper", as_expr(upper) - q.symbol))
    if not sides:
        raise MechanismError(f"stops of joint '{joint.name}': give lower, upper or both.")
    return tuple(bound(f"{name}.{side}", gap, restitution) for side, gap in sides)


def compliant_stops(
    joint: Joint,
    lower: ExprLike | None,
    upper: ExprLike | None,
    stiffness: ExprLike,
    damping: ExprLike = 0,
    coordinate: str | None = None,
) -> CoordinateForce:
    """Stops that give: beyond them a spring and a damper push back, and never pull."""
    q, name = stopped_coordinate(joint, coordinate)
    k, c, total = as_expr(stiffness), as_expr(damping), as_expr(0)
    if lower is not None:
        depth = as_expr(lower) - q.symbol
        # A damper alone would pull while the joint leaves the stop: the force is cut at zero (as in Hunt and Crossley
        # 1975, whose damping grows with depth, a contact cannot pull).
        total = total + where(depth > 0, maximum(k * depth - c * q.rate, 0), 0)
    if upper is not None:
        depth = q.symbol - as_expr(upper)
        total = total - where(depth > 0, maximum(k * depth + c * q.rate, 0), 0)
    return CoordinateForce(f"{name}.stops", joint.name, q.name, total)


def play(name: str, residual: ExprLike, amount: ExprLike, restitution: ExprLike = 0) -> tuple[Bound, Bound]:
    """A relation `residual` = 0 with play: it moves freely by the amount in all, and hits at both ends.

    A gear with backlash: play("gear", second - ratio * first, 0.01).
    """
    half, value = as_expr(amount) / 2, as_expr(residual)
    return bound(f"{name}.lower", half + value, restitution), bound(f"{name}.upper", half - value, restitution)


def joint_friction(
    joint: Joint,
    force: ExprLike,
    breakaway: ExprLike | None = None,
    stribeck: ExprLike | None = None,
    coordinate: str | None = None,
) -> DryFriction:
    """Dry friction on a joint's coordinate (N m or N) that sticks and slides, named `knee.friction`."""
    q, name = stopped_coordinate(joint, coordinate)
    return DryFriction(
        f"{name}.friction",
        (q.rate,),
        as_expr(force),
        as_expr(0),
        breakaway=None if breakaway is None else as_expr(breakaway),
        stribeck=None if stribeck is None else as_expr(stribeck),
    )


def smooth_friction(joint: Joint, force: ExprLike, speed: ExprLike, coordinate: str | None = None) -> CoordinateForce:
    """Dry friction made smooth: -force tanh(q' / speed). It creeps where real friction sticks."""
    q, name = stopped_coordinate(joint, coordinate)
    # tanh(1) = 0.76: at the given speed three quarters of the force act; far below it is viscous, with force / speed.
    law = -as_expr(force) * tanh(q.rate / as_expr(speed))
    return CoordinateForce(f"{name}.friction", joint.name, q.name, law)


def stopped_coordinate(joint: Joint, coordinate: str | None) -> tuple[Coordinate, str]:
    """The coordinate that is meant, and what its elements are named after: the joint, with several its coordinate."""
    names = [q.name for q in joint.coordinates]
    if coordinate is None and len(names) != 1:
        listing = ", ".join(f"'{name}'" for name in names) or "none"
        raise MechanismError(f"joint '{joint.name}': say which coordinate is meant. There are: {listing}.")
    q = joint.coordinates[0] if coordinate is None else joint.coordinate(coordinate)
    return q, joint.name if len(names) == 1 else f"{joint.name}.{q.name.removeprefix(f'{joint.name}.')}"


def check_contacts(contacts: Sequence[Switching], known: Iterable[str], states: Iterable[State] = ()) -> None:
    """Refuses elements that say nothing or contradict themselves; `known` are constraints that may carry friction."""
    _check_updates([element for element in contacts if isinstance(element, Update)], states)
    others = [element for element in contacts if not isinstance(element, Update)]
    # Boxes and capsules touch in several points, each with a force of its own: none of them is the force that presses.
    smooth = [c.name for c in contacts if isinstance(c, Contact) and c.shape not in ("box", "capsule")]
    pressed = [*known, *(c.name for c in contacts if isinstance(c, Bound)), *smooth]
    for element in others:
        if isinstance(element, Bound):
            _between(f"bound '{element.name}'", "restitution", element.restitution, 1.0)
            continue
        if isinstance(element, Contact):
            _check_contact(element)
            continue
        where_ = f"friction '{element.name}'"
        for what in ("force", "coefficient", "breakaway", "static", "stribeck"):
            _between(where_, what, getattr(element, what), None)
        if element.on and element.on not in pressed:
            listing = ", ".join(f"'{name}'" for name in pressed) or "none"
            raise MechanismError(f"{where_}: there is no bound or constraint '{element.on}'. There are: {listing}.")
        if not element.on and not (element.coefficient.is_zero and element.static is None):
            raise MechanismError(
                f"{where_}: a coefficient of friction needs a normal force. Name the bound or constraint that "
                "provides it."
            )
        if len(element.slip) not in (1, 2):
            raise MechanismError(f"{where_}: expected one or two sliding speeds, got {len(element.slip)}.")


def _check_updates(updates: Sequence[Update], states: Iterable[State]) -> None:
    """Updates are of states, each by one update of a kind: two at the same instant would depend on their order."""
    symbols = {state.symbol: state for state in states}
    sampled: dict[Expr, str] = {}
    for element in updates:
        owner = f"update '{element.name}'"
        for target in element.targets:
            if target not in symbols:
                names = [state.name for state in symbols.values()]
                raise MechanismError(unknown_name("state", str(target.name), names, f"{owner}: "))
            if symbols[target].formula is None:
                raise MechanismError(
                    f"{owner}: '{target.name}' follows from equations, which an update would break. Update a state "
                    "with a rate of its own."
                )
            if element.period is not None and sampled.setdefault(target, element.name) != element.name:
                raise MechanismError(f"{owner}: '{target.name}' is sampled by '{sampled[target]}' already.")
        if len(set(element.targets)) < len(element.targets):
            raise MechanismError(f"{owner}: a state gets two values at once.")
        if element.period is not None and element.period.is_constant and not float(element.period) > 0.0:
            raise MechanismError(f"{owner}: its period is {float(element.period):g} s, expected more than zero.")


def _check_contact(element: Contact) -> None:
    owner = f"contact '{element.name}'"
    _between(owner, "restitution", element.restitution, 1.0)
    for what in ("coefficient", "static", "ground_radius"):
        _between(owner, what.replace("coefficient", "friction"), getattr(element, what), None)
    for what, size in element.sizes:
        _between(owner, what, size, None)
    if element.frame.body == element.ground.body:
        raise MechanismError(f"{owner}: a body does not touch itself ('{element.frame.body}').")
    if sum(kind is not None for kind in (element.normal, element.ground_radius, element.height)) != 1:
        raise MechanismError(f"{owner}: the ground is a plane with a normal, a sphere with a radius, or has a height.")
    if element.normal is not None and all(component.is_zero for component in element.normal):
        raise MechanismError(f"{owner}: the normal of a plane cannot be [0, 0, 0].")


def _between(owner: str, what: str, value: Expr | None, most: float | None) -> None:
    """A number that is known already is not negative, and not above the most."""
    if value is None or not value.is_constant or symbols_of([value]):
        return
    number = float(value)
    if number < 0.0 or (most is not None and number > most):
        expected = "zero or more" if most is None else f"between 0 and {most:g}"
        raise MechanismError(f"{owner}: {what} is {number:g}, expected {expected}.")
