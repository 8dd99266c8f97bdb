"""Random mechanisms for property tests.

`mechanisms()` draws trees of up to six bodies with every joint preset, offsets, loads, parameters, solids and laws.
They are physically sensible: masses are positive, inertias are those of real mass distributions, every
parameter has a number, and nothing divides by zero at the initial state. Switches take features out (`loads=False`),
restrict joints (`kinds=("revolute",)`), or add what only a description needs (`everything=True`: undetermined
constants and functions, constraints, loops, sensors, odd names).
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from torseur.algebra.graph import PI, Expr, Table, UndeterminedFunction, as_expr, scalar, symbol
from torseur.description.mechanism import (
    EARTH,
    HERE,
    LENGTH,
    LENGTH_RATE,
    TIME,
    Body,
    Coordinate,
    Distance,
    Equation,
    Frame,
    Joint,
    JointWrench,
    Mechanism,
    Parameter,
    Placement,
    Rolling,
    Sensor,
    Solid,
    along,
    body,
    bushing,
    coordinate_spring,
    cylindrical,
    denavit_hartenberg,
    fixed,
    force,
    free,
    helical,
    inertia,
    law,
    motor,
    parameter,
    placement,
    planar,
    prismatic,
    revolute,
    rotation,
    sequence,
    solid,
    spherical,
    spring,
    torque,
    translation,
    turn,
    universal,
)

JOINT_KINDS = (
    "revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "spherical_quaternion", "planar",
    "free", "free_quaternion", "fixed", "denavit_hartenberg", "link",
)  # fmt: skip
ANGLE_SEQUENCES = ("zxz", "xyz", "zyx", "yxz", "xzx")
AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1), (1, 1, 0), (0.6, 0, 0.8), (1, -2, 2))


def positive(low: float = 0.1, high: float = 5.0) -> st.SearchStrategy[int | float | Fraction]:
    """Positive numbers: short decimals, raw floats, fractions, integers."""
    decimals = st.integers(max(1, round(100 * low)), round(100 * high)).map(lambda n: n / 100)
    fractions = st.integers(1, 30).map(lambda n: Fraction(n, 7)).filter(lambda f: low <= f <= high)
    return decimals | st.floats(low, high) | fractions


def signed(size: float = 1.0) -> st.SearchStrategy[int | float | Fraction]:
    """Numbers of either sign, often zero."""
    decimals = st.integers(round(-100 * size), round(100 * size)).map(lambda n: n / 100)
    return st.just(0) | decimals | st.floats(-size, size).filter(lambda v: v == 0 or abs(v) > 1e-3)


def vectors(size: float = 1.0) -> st.SearchStrategy[tuple[int | float | Fraction, ...]]:
    return st.tuples(signed(size), signed(size), signed(size))


def axes() -> st.SearchStrategy[tuple[float, ...]]:
    return st.sampled_from(AXES)


def angles() -> st.SearchStrategy[Expr]:
    """Quarter turns, twelfths of a turn, and any angle."""
    exact = st.integers(-12, 12).map(lambda n: PI * Fraction(n, 6))
    return exact | st.floats(-3, 3).filter(lambda v: v == 0 or abs(v) > 1e-3).map(as_expr)


@st.composite
def placements(draw: st.DrawFn, size: float = 1.0) -> Placement:
    """An offset and up to two turns; often none."""
    if draw(st.booleans()):
        return HERE
    turns = draw(st.lists(st.tuples(angles(), axes()), max_size=2))
    return placement(draw(vectors(size)), *(turn(angle, axis) for angle, axis in turns))


@st.composite
def real_inertias(draw: st.DrawFn, about: str | Placement = "iframe") -> tuple[float, object]:
    """(mass, inertia matrix) of a few point masses and a small ball about their own centre: always possible."""
    points = draw(st.lists(st.tuples(signed(), signed(), signed(), positive(0.1, 2)), min_size=2, max_size=4))
    mass = float(sum(m for *_, m in points))
    centre = [sum(float(p[i] * p[3]) for p in points) / mass for i in range(3)]
    xx = yy = zz = 0.01 * mass
    xy = xz = yz = 0.0
    for *position, m in points:
        x, y, z = (float(value) - c for value, c in zip(position, centre, strict=True))
        xx, yy, zz = xx + m * (y * y + z * z), yy + m * (x * x + z * z), zz + m * (x * x + y * y)
        xy, xz, yz = xy - m * x * y, xz - m * x * z, yz - m * y * z
    return mass, inertia(xx, yy, zz, xy, xz, yz, about=about)


@st.composite
def solids(draw: st.DrawFn) -> Solid:
    """Any of the homogeneous solids, anywhere."""
    shape = draw(st.sampled_from(("box", "cylinder", "sphere", "cone", "rod", "shell")))
    names = {"box": ("x", "y", "z"), "cylinder": ("radius", "length"), "cone": ("radius", "length"),
             "sphere": ("radius",), "shell": ("radius",), "rod": ("length",)}[shape]  # fmt: skip
    dimensions = {name: draw(positive(0.1, 1.0)) for name in names}
    place = draw(placements() | axes().map(along))
    if draw(st.booleans()):
        return solid(shape, density=draw(positive(1.0, 5.0)), placement=place, **dimensions)
    return solid(shape, mass=draw(positive()), placement=place, **dimensions)


@st.composite
def bodies(draw: st.DrawFn, name: str, parameters: list[Parameter], with_solids: bool = True) -> Body:
    """A body given by solids, by numbers, or by parameters of its own."""
    how = draw(st.sampled_from(("numbers", "parameters", "solids", "both"))) if with_solids else "numbers"
    if how == "solids":
        return body(name, solids=draw(st.lists(solids(), min_size=1, max_size=2).filter(_bulky)))
    mass, matrix = draw(real_inertias())
    centre = draw(vectors(0.5))
    if how == "parameters":
        m = parameter(f"m_{name}", mass, "kg", f"mass of {name}")
        r = parameter(f"r_{name}", draw(positive(0.05, 0.5)), draw(st.sampled_from(("m", "mm", "cm"))))
        parameters += [m, r]
        moment = m * r * r
        return body(name, mass=m, centre=(r, 0, -r / 2), inertia=inertia(moment, moment, moment))
    extra = draw(st.lists(solids(), min_size=1, max_size=1)) if how == "both" else ()
    place = draw(placements(0.5))
    return body(name, mass=mass, centre=centre, axes=place.rotation, inertia=matrix, solids=extra)


def _bulky(parts: list[Solid]) -> bool:
    """Whether some solid has inertia about every axis (a rod alone has none about its own)."""
    return any(part.shape != "rod" for part in parts)


@st.composite
def joints(draw: st.DrawFn, kind: str, name: str, parent: Frame, child: Frame, body_speeds: bool = True) -> Joint:
    """A joint of the kind, its coordinates numbered after its name."""
    suffix = name.removeprefix("j")
    q = [f"{letter}{suffix}" for letter in ("q", "u", "w", "a", "b", "c", "d")]
    axis = draw(axes())
    match kind:
        case "fixed":
            return fixed(name, parent, child)
        case "revolute":
            return revolute(name, parent, child, q[0], axis)
        case "prismatic":
            return prismatic(name, parent, child, q[0], axis)
        case "helical":
            return helical(name, parent, child, q[0], draw(positive(0.01, 0.2)), axis)
        case "cylindrical":
            return cylindrical(name, parent, child, q[0], q[1], axis)
        case "universal":
            return universal(name, parent, child, q[0], q[1])
        case "planar":
            return planar(name, parent, child, *q[:3])
        case "spherical":
            return spherical(name, parent, child, *q[:3], angles=draw(st.sampled_from(ANGLE_SEQUENCES)))
        case "spherical_quaternion":
            return spherical(name, parent, child, *q[:4], angles="quaternion")
        case "free":
            speeds = draw(st.sampled_from(("", "body"))) if body_speeds else ""
            order = draw(st.sampled_from(ANGLE_SEQUENCES))
            return free(name, parent, child, *q[:6], angles=order, speeds=speeds)
        case "free_quaternion":
            return free(name, parent, child, *q, angles="quaternion")
        case "denavit_hartenberg":
            return _denavit_hartenberg(draw, name, parent, child, q[0])
        case _:
            return _link(draw, name, parent, child, q)


def _denavit_hartenberg(draw: st.DrawFn, name: str, parent: Frame, child: Frame, q: str) -> Joint:
    return denavit_hartenberg(
        name, Frame(parent.body), body(child.body), q, a=draw(signed()), alpha=draw(angles()), r=draw(signed()),
        theta=draw(angles()), prismatic=draw(st.booleans()),
    )  # fmt: skip


def _link(draw: st.DrawFn, name: str, parent: Frame, child: Frame, q: list[str]) -> Joint:
    """A general joint: a cam-like joint, a tabulated one, or a translation and a rotation."""
    form = draw(st.sampled_from(("coupled", "tabulated", "independent")))
    turned, moved = Coordinate(q[0], "rad"), Coordinate(q[1], "m")
    axis = draw(axes())
    if form == "coupled":
        motions = (rotation(axis, turned), translation(axis, scalar.sin(turned.symbol) / 5))
        return sequence(name, parent, child, (turned,), motions)
    if form == "tabulated":
        points = (-2.0, -1.0, 0.0, 1.0, 2.0)
        cam = Table(f"cam_{name}", points, (0.1, draw(signed(0.2)) + 0.0, 0.0, 0.05, 0.2), unit="m")
        return sequence(name, parent, child, (turned,), (rotation(axis, turned), translation((0, 1, 0), cam(turned))))
    return sequence(name, parent, child, (moved, turned), (translation(axis, moved), rotation((0, 1, 0), turned)))


def is_single(joint: Joint) -> bool:
    """Whether the joint has one coordinate, an angle or a displacement."""
    return len(joint.coordinates) == 1


@st.composite
def load(draw: st.DrawFn, name: str, joint_list: list[Joint], laws: bool = True) -> object:
    """One load of any kind on the drawn bodies and joints."""
    joint = draw(st.sampled_from(joint_list))
    child, other = joint.child.body, draw(st.sampled_from(joint_list)).parent
    single = [j for j in joint_list if is_single(j)]
    kind = draw(st.sampled_from(("force", "torque", "bushing", "spring", "motor", "damper", "wrench", "law")))
    if kind in ("motor", "damper") and single:
        return _coordinate_load(draw, name, draw(st.sampled_from(single)), kind, laws)
    if kind == "torque":
        axes_of = Frame(child) if draw(st.booleans()) else EARTH
        return torque(name, Frame(child), draw(vectors(2.0)), axes_of)
    if kind == "bushing" and other.body != child:
        return bushing(name, other, Frame(child, draw(placements())), [draw(positive()) for _ in range(6)],
                       [draw(positive()) for _ in range(6)])  # fmt: skip
    if kind in ("spring", "law") and other.body != child:
        # The ends never meet: one of them is held far away.
        far = Frame(other.body, placement((0, 0, 50)))
        if kind == "law":
            tension = 3 * (LENGTH - 40) + LENGTH_RATE / 2
            return spring(name, far, Frame(child), law=tension)
        return spring(
            name, far, Frame(child), stiffness=draw(positive()), rest=draw(positive()), damping=draw(positive())
        )
    if kind == "wrench":
        return JointWrench(name, joint.name, _constants(draw(vectors())), _constants(draw(vectors())))
    return force(
        name, Frame(child, draw(placements())), draw(vectors(3.0)), draw(st.sampled_from((EARTH, Frame(child))))
    )


def _constants(values: tuple[object, ...]) -> tuple[Expr, Expr, Expr]:
    x, y, z = (as_expr(value) for value in values)
    return x, y, z


def _coordinate_load(draw: st.DrawFn, name: str, joint: Joint, kind: str, laws: bool) -> object:
    (q,) = joint.coordinates
    if kind == "damper":
        return coordinate_spring(name, joint.name, q.name, stiffness=draw(positive()), rest=draw(signed()),
                                 damping=draw(positive()))  # fmt: skip
    if laws and draw(st.booleans()):
        return motor(name, joint.name, q.name, 2 * RAMP(TIME))
    size = draw(positive())
    return motor(name, joint.name, q.name, size * scalar.cos(draw(positive()) * TIME) - size * q.rate)


RAMP_LAW = law("ramp", ["t"], lambda t: 1 - scalar.exp(-t / Fraction(1, 5)))
RAMP = UndeterminedFunction("ramp", 1)


@st.composite
def mechanisms(draw: st.DrawFn, *, max_bodies: int = 6, kinds: tuple[str, ...] = JOINT_KINDS, loads: bool = True,
               with_solids: bool = True, laws: bool = True, offsets: bool = True, body_speeds: bool = True,
               everything: bool = False) -> Mechanism:  # fmt: skip
    """A random mechanism: a tree of bodies, from the earth, with numbers for everything."""
    count = draw(st.integers(1, max_bodies))
    parameters: list[Parameter] = [parameter("g", 9.81, "m/s^2", "gravity")]
    body_list = [draw(bodies(f"b{i}", parameters, with_solids)) for i in range(1, count + 1)]
    joint_list = []
    for i in range(1, count + 1):
        parent = draw(st.sampled_from(["earth", *(f"b{k}" for k in range(1, i))]))
        place = [draw(placements()) if offsets else HERE for _ in range(2)]
        kind = draw(st.sampled_from(kinds))
        joint_list.append(draw(joints(kind, f"j{i}", Frame(parent, place[0]), Frame(f"b{i}", place[1]), body_speeds)))
    load_list = [draw(load(f"l{i}", joint_list, laws)) for i in range(draw(st.integers(0, 4)) if loads else 0)]
    parts = {
        "bodies": body_list, "joints": joint_list, "parameters": parameters, "loads": load_list,
        "laws": [RAMP_LAW] if laws else [], "gravity": (0, -parameters[0], 0), "initial": draw(initial_states(joint_list)),
    }  # fmt: skip
    if everything:
        draw(_description_extras(parts))
    return Mechanism("random", **parts)


@st.composite
def initial_states(draw: st.DrawFn, joint_list: list[Joint]) -> dict[str, object]:
    """Values for some coordinates and rates, away from singular angles; a quaternion keeps its default."""
    chosen: dict[str, object] = {}
    for joint in joint_list:
        if any(motion.kind == "quaternion" for motion in joint.motions):
            continue
        middle = _middle_angle(joint)
        for q in joint.coordinates:
            if q.name == middle:
                chosen[q.name] = draw(positive(0.3, 1.2))
            elif draw(st.booleans()):
                chosen[q.name] = draw(signed(0.5)) if q.unit == "m" else draw(signed(0.5) | angles())
            if not joint.frame_speeds and draw(st.booleans()):
                chosen[f"{q.name}'"] = draw(signed(0.5))
    return chosen


def _middle_angle(joint: Joint) -> str | None:
    """The second of three successive angles, whose value decides whether they are singular."""
    turns = [motion for motion in joint.motions if motion.kind == "rotation"]
    return str(turns[1].amount.name) if len(turns) == 3 else None


@st.composite
def _description_extras(draw: st.DrawFn, parts: dict) -> None:
    """Adds what only a description needs: things undetermined, constraints, loops, sensors, frames, meanings."""
    names = [b.name for b in parts["bodies"]]
    k = Parameter(symbol("b1.k", "N/m"), None, "N/m")
    unknown = UndeterminedFunction("b1.drag", 2, "N", draw(st.sampled_from(("", "air drag"))))
    sensor = Sensor("b1.velocity.x", "velocity", Frame("b1"), "x")
    tip = Sensor("tip height", "position", Frame(names[-1], placement((0, 0, 1))), "y", Frame("b1"))
    parts["parameters"] += [parameter("ratio", PI / 3, "rad"), parameter("Θ", 30, "deg", 'tilt "nominal"'), k]
    parts["sensors"] = [sensor, tip]
    parts["frames"] = {"hip": Frame("b1", placement((0, Fraction(1, 3), 0), turn(PI / 2, (1, 0, 0))))}
    parts["loads"] += [
        force("drag", Frame("b1", base="iframe"), (unknown(sensor.symbol, tip.symbol), -k.symbol * tip.symbol, 0)),
        force("front-left", parts["frames"]["hip"], (0, 0, scalar.where(tip.symbol < 0, 1, 2) * (TIME - 3) ** 2)),
    ]
    loop = (
        revolute("close", Frame(names[-1]), EARTH, "zeta")
        if draw(st.booleans())
        else fixed("close", Frame(names[-1]), EARTH)
    )
    parts["joints"].append(loop)
    parts["constraints"] = [
        Equation("knife_edge", scalar.sin(TIME) * sensor.symbol - tip.symbol),
        Distance("link", Frame("b1"), EARTH, as_expr(draw(positive()))),
        Rolling(
            "contact", Frame("b1"), as_expr(Fraction(7, 20)), _constants((0, 0, 1)), EARTH, as_expr(draw(signed(0.1)))
        ),
    ]
    parts["bodies"].append(Body("ghost", meaning="nothing is known of it"))
    parts["joints"].append(free("float", EARTH, Frame("ghost"), *(f"g{i}" for i in range(6))))
    parts["meaning"] = draw(st.sampled_from(("", "a test", 'line\nbreak \\ and "quotes"')))
