"""OpenSim models made for tests: every kind of joint with oblique frames, splines, a coupler, markers, a muscle."""

from __future__ import annotations

import random

AXES = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")
KINDS = ("PinJoint", "CustomJoint", "UniversalJoint", "SliderJoint", "BallJoint", "PlanarJoint", "WeldJoint",
         "EllipsoidJoint", "GimbalJoint")  # fmt: skip
COUNT = {"PinJoint": 1, "CustomJoint": 2, "UniversalJoint": 2, "SliderJoint": 1, "BallJoint": 3, "PlanarJoint": 3,
         "WeldJoint": 0, "EllipsoidJoint": 3, "GimbalJoint": 3, "FreeJoint": 6}  # fmt: skip
SPLINE_X, SPLINE_Y = (-2.0, -1.2, -0.3, 0.5, 0.9, 2.1), (0.12, -0.05, 0.02, 0.2, 0.15, -0.1)


def _three(rng: random.Random, size: float = 0.4) -> str:
    return " ".join(f"{rng.uniform(-size, size):.3f}" for _ in range(3))


def _list(values) -> str:
    return " ".join(f"{x:g}" for x in values)


def _functions(q: list[str]) -> list[tuple[str, str, str]]:
    """Coordinates, axis and function of the six axes of a custom joint."""
    spline = f"<SimmSpline><x> {_list(SPLINE_X)}</x><y> {_list(SPLINE_Y)}</y></SimmSpline>"
    return [
        (q[0], "0.3 -0.2 0.9", "<LinearFunction><coefficients> 1 0</coefficients></LinearFunction>"),
        (q[1], "1 0 0", "<LinearFunction><coefficients> -0.8 0.1</coefficients></LinearFunction>"),
        ("", "0 1 0", "<Constant><value>0.25</value></Constant>"),
        (q[0], "1 0 0", spline),
        (q[0], "0 1 0", f"<MultiplierFunction><function>{spline}</function><scale>1.5</scale></MultiplierFunction>"),
        (q[1], "0 0 1", "<PolynomialFunction><coefficients> 0.1 -0.05 0.02 0.3</coefficients></PolynomialFunction>"),
    ]


def _joint(kind: str, name: str, sides: tuple[str, str], version: int, rng: random.Random) -> str:
    q = [f"{name}_q{k}" for k in range(COUNT[kind])]
    coordinates = "".join(
        f'<Coordinate name="{one}"><default_value>{rng.uniform(-0.3, 0.3):.3f}</default_value>'
        "<range>-1 1</range><clamped>true</clamped></Coordinate>" for one in q
    )  # fmt: skip
    frames = [(_three(rng), _three(rng, 1.0)) for _ in range(2)]
    body = ""
    if kind == "EllipsoidJoint":
        body += "<radii_x_y_z>0.2 0.3 0.15</radii_x_y_z>"
    if kind == "CustomJoint":
        wrap = (lambda text: f"<function>{text}</function>") if version < 40000 else (lambda text: text)
        body += "<SpatialTransform>" + "".join(
            f'<TransformAxis name="{axis}"><coordinates>{own}</coordinates><axis>{along}</axis>{wrap(text)}'
            "</TransformAxis>" for axis, (own, along, text) in zip(AXES, _functions(q), strict=True)
        ) + "</SpatialTransform>"  # fmt: skip
    if version >= 40000:
        places = "".join(
            f'<PhysicalOffsetFrame name="{side}_offset"><socket_parent>{path}</socket_parent>'
            f"<translation>{at}</translation><orientation>{turned}</orientation></PhysicalOffsetFrame>"
            for side, (at, turned) in zip(sides, frames, strict=True)
            for path in ["/ground" if side == "ground" else f"/bodyset/{side}"]
        )
        return (
            f'<{kind} name="{name}"><socket_parent_frame>{sides[0]}_offset</socket_parent_frame>'
            f"<socket_child_frame>{sides[1]}_offset</socket_child_frame><coordinates>{coordinates}</coordinates>"
            f"<frames>{places}</frames>{body}</{kind}>"
        )
    return (
        f'<Joint><{kind} name="{name}"><parent_body>{sides[0]}</parent_body><location_in_parent>{frames[0][0]}'
        f"</location_in_parent><orientation_in_parent>{frames[0][1]}</orientation_in_parent><location>{frames[1][0]}"
        f"</location><orientation>{frames[1][1]}</orientation><CoordinateSet><objects>{coordinates}</objects>"
        f"</CoordinateSet>{body}</{kind}></Joint>"
    )


def _body(name: str, version: int, rng: random.Random, joint: str) -> str:
    a, b, c = (rng.uniform(0.02, 0.03) for _ in range(3))
    products = [rng.uniform(-0.002, 0.002) for _ in range(3)]
    numbers = [f"{x:.5f}" for x in (a, b, c, *products)]
    tensor = f"<inertia>{' '.join(numbers)}</inertia>" if version >= 40000 else "".join(
        f"<inertia_{key}>{x}</inertia_{key}>" for key, x in zip(("xx", "yy", "zz", "xy", "xz", "yz"), numbers, strict=True)
    )  # fmt: skip
    return (
        f'<Body name="{name}"><mass>{rng.uniform(0.5, 2):.3f}</mass><mass_center>{_three(rng, 0.1)}</mass_center>'
        f"{tensor}{joint if version < 40000 else ''}</Body>"
    )


EXTRAS = """<ConstraintSet><objects>
<CoordinateCouplerConstraint name="c"><coupled_coordinates_function><LinearFunction><coefficients> 0.5 0.1</coefficients>
</LinearFunction></coupled_coordinates_function><independent_coordinate_names>j0_q0</independent_coordinate_names>
<dependent_coordinate_name>j2_q0</dependent_coordinate_name></CoordinateCouplerConstraint></objects></ConstraintSet>
<ForceSet><objects><Thelen2003Muscle name="biceps"><max_isometric_force>500</max_isometric_force><GeometryPath>
<PathPointSet><objects>
<PathPoint name="p1"><socket_parent_frame>/bodyset/body0</socket_parent_frame><location>0.1 0 0.05</location></PathPoint>
<ConditionalPathPoint name="p2"><socket_parent_frame>/bodyset/body1</socket_parent_frame><location>0 0.1 0</location>
<socket_coordinate>/jointset/j1/j1_q0</socket_coordinate><range>-1 1</range></ConditionalPathPoint>
<MovingPathPoint name="p3"><socket_parent_frame>/bodyset/body2</socket_parent_frame>
<socket_x_coordinate>/jointset/j1/j1_q0</socket_x_coordinate><socket_y_coordinate>/jointset/j1/j1_q0</socket_y_coordinate>
<socket_z_coordinate>/jointset/j1/j1_q0</socket_z_coordinate>
<x_location><LinearFunction><coefficients> 0.1 0.02</coefficients></LinearFunction></x_location>
<y_location><Constant><value>0.03</value></Constant></y_location>
<z_location><Constant><value>-0.01</value></Constant></z_location></MovingPathPoint>
</objects></PathPointSet></GeometryPath></Thelen2003Muscle>
<CoordinateLimitForce name="stop"/></objects></ForceSet>"""
PLAIN = ("CustomJoint", "PinJoint", "UniversalJoint", "SliderJoint", "GimbalJoint", "PlanarJoint", "WeldJoint",
         "CustomJoint")  # fmt: skip


def osim_model(version: int = 40000, kinds: tuple[str, ...] = KINDS, seed: int = 3, extra: str = "") -> str:
    """A chain with these joints, one body each, as OpenSim 4 or 3 writes it."""
    rng = random.Random(seed)
    names = [f"body{k}" for k in range(len(kinds))]
    joints = [
        _joint(kind, f"j{k}", ("ground" if k == 0 else names[k - 1], names[k]), version, rng)
        for k, kind in enumerate(kinds)
    ]  # fmt: skip
    bodies = [_body(name, version, rng, joint) for name, joint in zip(names, joints, strict=True)]
    frame = "socket_parent_frame" if version >= 40000 else "body"
    path = (lambda name: f"/bodyset/{name}") if version >= 40000 else (lambda name: name)
    markers = "".join(
        f'<Marker name="M.{name}"><{frame}>{path(name)}</{frame}><location>{_three(rng)}</location></Marker>'
        for name in names
    )
    ground = '<Body name="ground"><mass>0</mass></Body>' if version < 40000 else ""
    empty = '<Ground name="ground"/>' if version >= 40000 else ""
    joint_set = f"<JointSet><objects>{''.join(joints)}</objects></JointSet>" if version >= 40000 else ""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<OpenSimDocument Version="{version}"><Model name="made">'
        f"{empty}<gravity>0 -9.80665 0</gravity>"
        f"<BodySet><objects>{ground}{''.join(bodies)}</objects></BodySet>{joint_set}"
        f"<MarkerSet><objects>{markers}</objects></MarkerSet>{extra}</Model></OpenSimDocument>\n"
    )
