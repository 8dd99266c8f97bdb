"""Singularities of actuated mechanisms against closed forms: five-bar, 3-RPR, Stewart platform."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import torseur as ts
from torseur.derivation.loops import coupler_curve, drive, singular_map, singularities_along, singularities_in
from torseur.derivation.loops.actuation.actuation import actuation
from torseur.errors import MechanismError

BASE = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]])
PLATE = np.array([[-0.5, -0.4], [0.6, -0.3], [0.1, 0.7]])


def bodies(*names):
    return "".join(f"let {n} = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;\n" for n in names)


def rpr3(phi=0.3, name="rpr3"):
    """A plate on three legs whose lengths d1, d2, d3 are driven; x, y, phi is its pose."""
    text = f"mechanism {name} ;\n" + bodies("plate", *(f"{b}{k}" for k in "123" for b in "ul"))
    text += "join earth and plate.frame as P with planar(x, y, phi) end ;\n"
    for k, (base, top) in enumerate(zip(BASE, PLATE, strict=True), 1):
        text += f"join [{base[0]}, {base[1]}, 0] m @ earth and u{k}.frame as A{k} with revolute(a{k}) end ;\n"
        text += f"join u{k}.frame and l{k}.frame as L{k} with prismatic(d{k}) along [1, 0, 0] end ;\n"
        text += f"join l{k}.frame and [{top[0]}, {top[1]}, 0] m @ plate as C{k} with revolute(c{k}) end ;\n"
    return ts.parse(
        f"{text}init x about 1.7 m, y about 0.9 m, phi = {phi} rad, d1 about 1 m, d2 about 2 m, d3 about 1.5 m ;"
    )


def concurrency(x, y, phi):
    """The determinant of the legs' lines (s, r x s): it vanishes where they meet in a point."""
    turn = np.array([[np.cos(phi), -np.sin(phi)], [np.sin(phi), np.cos(phi)]])
    r = PLATE @ turn.T
    s = np.array([x, y]) + r - BASE
    return np.linalg.det(np.column_stack([s, r[:, 0] * s[:, 1] - r[:, 1] * s[:, 0]]))


def legs(pose):
    """Lengths of the legs at a pose."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.linalg.norm(pose[:2] + PLATE @ np.array([[c, s], [-s, c]]) - BASE, axis=1)


def missed(drawn, function):
    """Points of a curve in closed form, one for every edge of the map's grid that it crosses, which no line passes."""
    grid = np.array([[function(x, y) for y in drawn.second] for x in drawn.first])
    cell = np.array([axis[1] - axis[0] for axis in (drawn.first, drawn.second)])
    missing = []
    for i, j in np.ndindex(grid.shape):
        for di, dj in ((1, 0), (0, 1)):
            if i + di == grid.shape[0] or j + dj == grid.shape[1] or not grid[i, j] * grid[i + di, j + dj] < 0:
                continue
            start, step = np.array([drawn.first[i], drawn.second[j]]), cell * [di, dj]
            place = start + step * brentq(lambda s, p=start, v=step: function(*(p + s * v)), 0, 1)
            if min(_distance(place, curve) for curve in drawn.lines["type 2"]) > 0.1 * cell.max():
                missing.append(place)
    return missing


def _distance(place, curve):
    starts, steps = curve[:-1], np.diff(curve, axis=0)
    parts = np.sum((place - starts) * steps, axis=1) / np.maximum(np.sum(steps**2, axis=1), 1e-300)
    return np.min(np.linalg.norm(starts + np.clip(parts, 0, 1)[:, None] * steps - place, axis=1))


@pytest.mark.slow
def test_the_singular_line_of_a_3_rpr_at_one_orientation_is_a_conic():
    """Oracle: Sefrioui and Gosselin (1995): for a fixed orientation the locus is a conic; and the legs' lines meet."""
    drawn = singular_map(rpr3(), ("x", -1.0, 4.0), ("y", -1.5, 3.5), ["d1", "d2", "d3"], ["x", "y", "phi"],
                         locked=["phi"], at={"x": 1.7, "y": 0.9, "phi": 0.3}, nodes=31)  # fmt: skip
    assert drawn.share > 0.95
    assert drawn.held["phi"] == pytest.approx(0.3)
    points = np.vstack(drawn.lines["type 2"])
    assert len(points) > 20
    largest = max(abs(concurrency(x, y, 0.3)) for x in (-1, 4) for y in (-1.5, 3.5))
    assert max(abs(concurrency(x, y, 0.3)) for x, y in points) < 1e-6 * largest
    x, y = points.T
    conic = np.column_stack([x * x, x * y, y * y, x, y, np.ones(len(x))])
    assert np.linalg.svd(conic, compute_uv=False)[-1] < 1e-6
    assert "type 2: " in str(drawn)
    assert missed(drawn, lambda x, y: concurrency(x, y, 0.3)) == []
    # The conic is a hyperbola here, also where it goes through the points at which a leg has no length.
    assert len(drawn.lines["type 2"]) == 2


@pytest.mark.slow
def test_legs_are_locked_at_the_lengths_that_the_pose_gives_and_parallel_ones_still_swing():
    """Oracle: legs from the origin to (0.6, 1.1); equal and parallel bars lead a plate on circles."""
    text = "mechanism swing ;\n" + bodies("plate", *(f"{b}{k}" for k in "123" for b in "ul"))
    text += "join earth and plate.frame as P with planar(x, y, phi) end ;\n"
    for k, (x, y) in enumerate(((0, 0), (3, 0), (1, 2)), 1):
        text += f"join [{x}, {y}, 0] m @ earth and u{k}.frame as A{k} with revolute(a{k}) end ;\n"
        text += f"join u{k}.frame and l{k}.frame as L{k} with prismatic(d{k}) along [1, 0, 0] end ;\n"
        text += f"join l{k}.frame and [{x}, {y}, 0] m @ plate as C{k} with revolute(c{k}) end ;\n"
    text += "init x = 0.6 m, y = 1.1 m, phi = 0 rad, d1 about 1.2 m, d2 about 1.2 m, d3 about 1.2 m ;"
    swing, inputs = ts.parse(text), ["d1", "d2", "d3"]
    report = ts.loops(swing, locked=inputs)
    assert [report.configuration[name] for name in ("x", "y")] == pytest.approx([0.6, 1.1])
    assert [report.configuration[name] for name in inputs] == pytest.approx([np.hypot(0.6, 1.1)] * 3)
    assert report.finite == 1
    assert actuation(swing, inputs, ["x", "y", "phi"]).kinds == ("type 2",)
    # A value that is given for what is locked is kept.
    assert ts.loops(swing, {"d1": 1.5}, locked=["d1"]).configuration["d1"] == pytest.approx(1.5)


@pytest.mark.slow
def test_two_legs_locked_the_third_driven_stops_where_the_lines_meet():
    """Oracle: the closed form above, at every limit; a limit is within the range and the answer covers all of it."""
    met = drive(rpr3(), "d3", 1.0, 3.0, at={"x": 1.7, "y": 0.9, "phi": 0.3}, locked=["d1", "d2"])
    limits = [s for s in met.singularities if s.kind == "limit"]
    assert limits
    for limit in limits:
        pose = [limit.coordinates[name] for name in ("x", "y", "phi")]
        assert abs(concurrency(*pose)) < 1e-4
    assert met.closed
    assert met.notes


def test_qualities_and_the_kind_of_a_pose():
    report = actuation(rpr3(), ["d1", "d2", "d3"], ["x", "y", "phi"], at={"x": 1.7, "y": 0.9, "phi": 0.3})
    assert (report.kinds, report.mobility, report.left_free) == ((), 3, 0)
    # Oracle: leg lengths from the pose, differentiated; a leg assembled backwards has a negative length.
    pose = np.array([report.pose[name] for name in ("x", "y", "phi")])
    signs = np.sign([report.pose[name] for name in ("d1", "d2", "d3")])
    inverse = np.column_stack([(legs(pose + 1e-6 * e) - legs(pose - 1e-6 * e)) / 2e-6 for e in np.eye(3)])
    assert report.jacobian == pytest.approx(np.linalg.inv(signs[:, None] * inverse), rel=1e-5, abs=1e-6)
    assert set(report.conditions) == {"lengths", "angles", "all"}
    fewer = actuation(rpr3(), ["d1", "d2"], ["x", "y", "phi"], at={"x": 1.7, "y": 0.9, "phi": 0.3})
    assert fewer.kinds == ()
    assert "1 missing" in str(fewer)


FIVE_BAR = (
    "mechanism five_bar ;\n"
    + bodies("a", "b", "c", "d")
    + """
join earth and a.frame as A with revolute(q1) end ;
join [1, 0, 0] m @ a and b.frame as B with revolute(q2) end ;
join [1.5, 0, 0] m @ b and [1.5, 0, 0] m @ c as C with revolute(q3) end ;
join [1, 0, 0] m @ d and c.frame as D with revolute(q4) end ;
join [2, 0, 0] m @ earth and d.frame as E with revolute(q5) end ;
init q1 = 100 deg, q5 = 80 deg, q2 about -70 deg, q4 about 70 deg ;
"""
)


@pytest.mark.slow
def test_a_five_bar_gains_freedom_where_its_distal_links_are_in_line():
    """Oracle: elbows at the distance 3 or 0: the links of 1.5 m lie in line."""
    five_bar = ts.parse(FIVE_BAR)
    met = singularities_along(five_bar, "q1", np.radians(100), np.radians(260), locked=["q5"], inputs=["q1", "q5"])
    assert [s.kind for s in met][:1] == ["limit"]
    q1, q5 = (met[0].coordinates[name] for name in ("q1", "q5"))
    elbows = np.array([np.cos(q1), np.sin(q1)]) - np.array([2 + np.cos(q5), np.sin(q5)])
    assert np.linalg.norm(elbows) == pytest.approx(3.0, abs=1e-6)
    # The drive stops there because inputs are singular, and one motion is left with q5 held.
    assert {(s.kind, s.infinitesimal) for s in met} >= {("limit", 1), ("type 2", 1)}
    at = {name: met[0].coordinates[name] for name in ("q1", "q2", "q4", "q5")}
    assert actuation(five_bar, ["q1", "q5"], ["q2", "q4"], at=at).input_quality < 1e-3


CART = """
let cart = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;
join [900, 0, 0] m @ earth and cart.frame as rail with prismatic(s) along [1, 0, 0] end ;
"""


def elbow_distance(q1, q5):
    return np.hypot(np.cos(q1) - 2 - np.cos(q5), np.sin(q1) - np.sin(q5))


def test_a_map_over_the_inputs_ends_where_a_five_bar_is_singular_with_or_without_a_cart_beside_it():
    """Oracle: inputs do not determine a five-bar where its distal links, 1.5 m each, are stretched between its elbows."""
    drawn, beside = (
        singular_map(ts.parse(text), ("q1", 1.2, 3.0), ("q5", 0.0, 1.8), ["q1", "q5"], nodes=7)
        for text in (FIVE_BAR, FIVE_BAR + CART)
    )
    lines = drawn.lines["type 2"]
    assert len(lines) == 1
    assert elbow_distance(*lines[0].T) == pytest.approx(3.0, abs=1e-6)
    assert [line.tolist() for line in beside.lines["type 2"]] == [line.tolist() for line in lines]
    alone, accompanied = (actuation(ts.parse(text), ["q1", "q5"]) for text in (FIVE_BAR, FIVE_BAR + CART))
    assert accompanied.conditions == pytest.approx(alone.conditions)
    assert (accompanied.usual_mobility, accompanied.outputs, accompanied.apart) == (2, alone.outputs, ("s",))


def test_points_of_a_singular_curve_in_a_box_are_said_to_be_of_a_curve():
    """Oracle: the distance of the elbows, one equation between two inputs; a cart beside them stays where it is."""
    box = {"q1": (1.5, 4.0), "q5": (-1.0, 1.5)}
    met = singularities_in(ts.parse(FIVE_BAR + CART), box, inputs=["q1", "q5"], starts=6)
    assert met
    for one in met:
        assert elbow_distance(one.coordinates["q1"], one.coordinates["q5"]) == pytest.approx(3.0, abs=1e-6)
        assert (one.family, one.coordinates["s"]) == (1, pytest.approx(0.0, abs=1e-12))
    assert "one of a curve" in str(met[0])


def test_dead_points_are_those_of_outputs_that_were_chosen():
    """Two sliders that carry two bars move together: the bars' angles rest, which is a dead point of these alone."""
    sliders = ts.parse(
        "mechanism sliders ;\n"
        + bodies("a", "b", "c", "d")
        + """join earth and a.frame as A with prismatic(u) along [0, 1, 0] end ;
join [4, 0, 0] m @ earth and d.frame as D with prismatic(v) along [0, 1, 0] end ;
join a.frame and b.frame as B with revolute(p) end ;
join d.frame and c.frame as C with revolute(q) end ;
join [2, 1, 0] m @ b and [-2, 1, 0] m @ c as E with revolute(r) end ;"""
    )
    assert actuation(sliders, ["u", "v"]).kinds == ()
    chosen = actuation(sliders, ["u", "v"], ["p", "q"])
    assert (chosen.kinds, chosen.manipulability, chosen.conditions["all"]) == (("type 1",), 0.0, np.inf)


def test_euler_angles_that_are_singular_at_the_pose_are_refused():
    ball = ts.parse("mechanism ball ;\n" + bodies("b") + "join earth and b.frame as J with spherical(k, l, m) end ;")
    with pytest.raises(MechanismError, match="joint 'J': two of the axes that its angles turn about coincide"):
        actuation(ball, ["k", "l", "m"])
    assert actuation(ball, ["k", "l", "m"], at={"l": 1.0}).kinds == ()


def test_coordinates_named_twice_or_held_and_moved_are_refused():
    five_bar, angle = ts.parse(FIVE_BAR), ("q1", 0.0, 1.0)
    with pytest.raises(MechanismError, match="'q1' is named 2 times"):
        actuation(five_bar, ["q1", "q1"])
    with pytest.raises(MechanismError, match="'q1' is named twice"):
        singular_map(five_bar, angle, ("q5", 0.0, 1.0), ["q1", "q5"], locked=["A"])
    with pytest.raises(MechanismError, match="q1 cannot be both locked and driven"):
        drive(five_bar, *angle, locked=["A"])
    with pytest.raises(MechanismError, match="nothing is left that could move q2"):
        drive(five_bar, "q2", 0.0, 1.0, locked=["q1", "q5"])
    with pytest.raises(MechanismError, match="q1 is locked"):
        singularities_in(five_bar, {"q1": (0.0, 1.0)}, locked=["q1"])


@pytest.mark.slow
def test_the_singular_line_of_a_five_bar_over_its_workspace_is_whole():
    """Oracle: elbows from the pen by closed-form inverse kinematics; both distal links lie on one line (Gosselin and
    Angeles 1990), which is a coupler curve of the four-bar that they make."""
    text = (
        FIVE_BAR
        + """
let wagon = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;
let pen = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;
join earth and wagon.frame as X with prismatic(x) along [1, 0, 0] end ;
join wagon.frame and pen.frame as Y with prismatic(y) along [0, 1, 0] end ;
join pen.frame and [1.5, 0, 0] m @ b as Z with revolute(z) end ;
"""
    )
    at = {"q1": np.radians(100), "q5": np.radians(80), "q2": np.radians(-70), "q4": np.radians(70)}
    drawn = singular_map(ts.parse(text), ("x", -0.6, 2.6), ("y", -1.2, 2.4), ["q1", "q5"], ["x", "y"], at=at, nodes=25)

    def elbow(x, y, base, side):
        way = np.array([x - base, y])
        far = np.linalg.norm(way)
        lean = (far**2 + 1.0 - 1.5**2) / (2 * far)
        if abs(lean) > 1:
            return np.full(2, np.nan)
        return [base, 0] + (lean * way + side * np.sqrt(1 - lean**2) * np.array([-way[1], way[0]])) / far

    def aligned(x, y):
        (a, b), (c, d) = elbow(x, y, 0.0, 1) - [x, y], elbow(x, y, 2.0, -1) - [x, y]
        return a * d - b * c

    points = np.vstack(drawn.lines["type 2"])
    assert max(abs(aligned(x, y)) for x, y in points) < 1e-7
    assert missed(drawn, aligned) == []


@pytest.mark.slow
def test_type_1_and_type_2_in_a_box():
    """Oracles: dead centres of a slider-crank in all its assemblies; lines of the legs of a 3-RPR meet."""
    from torseur.description import library

    slider = library.load("slider_crank")
    for drive_of, seen, kind in (("theta", "x", "type 1"), ("x", "theta", "type 2")):
        met = singularities_in(slider, {"theta": (-3.5, 2.5)}, inputs=[drive_of], outputs=[seen], starts=24)
        assert {s.kind for s in met} == {kind}
        assert sorted(s.coordinates["x"] for s in met) == pytest.approx([-1.1, -0.5, 0.5, 1.1], abs=1e-6)
    box = {"x": (0.5, 2.5), "y": (0.0, 2.0), "phi": (-1.0, 1.0)}
    met = singularities_in(rpr3(), box, inputs=["d1", "d2", "d3"], starts=8)
    gained = [s.coordinates for s in met if s.kind == "type 2"]
    assert gained
    for pose in gained:
        assert all(low <= pose[name] <= high for name, (low, high) in box.items())
        assert abs(concurrency(*(pose[name] for name in box))) < 1e-6


def test_an_angle_is_driven_over_the_range_that_was_asked_for():
    """Oracle: a crank-rocker parallelogram lies flat at half turns; answers lie in the range, modulo a turn elsewhere."""
    from torseur.description import library

    flat = singularities_along(library.load("flat_parallelogram"), "alpha", np.radians(90), np.radians(400),
                               at={"alpha": 1.0, "gamma": 1.0})  # fmt: skip
    assert sorted(s.coordinates["alpha"] for s in flat) == pytest.approx([np.pi, 2 * np.pi], abs=1e-4)


@pytest.mark.slow
def test_a_range_that_closes_nowhere_is_refused_and_one_that_closes_in_part_is_told():
    from torseur.description import library

    slider = library.load("slider_crank")
    with pytest.raises(MechanismError, match="do not close with x between 5 and 6"):
        singularities_along(slider, "x", 5.0, 6.0)
    # Oracle: the piston reaches r + l = 1.1 m.
    part = drive(slider, "x", 2.0, 1.0)
    assert part.closed[0][0] == pytest.approx(1.1, abs=1e-6)
    assert part.notes[0].startswith("the loops do not close with x between 2 and 1.1")


def gough():
    """A platform on six legs whose lengths s0 to s5 are driven: where they are joined below and above, and its text."""
    low, high = (
        np.array([radius * np.array([np.cos(angle), np.sin(angle), 0]) for angle in
                  (2 * np.pi * (k // 2) / 3 + (1 if k % 2 else -1) * aside for k in range(6))])
        for radius, aside in ((2.0, 0.3), (1.0, 0.8))
    )  # fmt: skip
    text = "mechanism gough ;\n" + bodies("slide", "lift", "top", *(f"{b}{k}" for k in range(6) for b in "cp"))
    text += """join earth and slide.frame as F with planar(x, y, yaw) end ;
    join slide.frame and lift.frame as G with prismatic(z) along [0, 0, 1] end ;
    join lift.frame and top.frame as H with universal(roll, pitch) about [1, 0, 0] then [0, 1, 0] end ;
    """
    for k in range(6):
        text += f"""join [{low[k, 0]:.12f}, {low[k, 1]:.12f}, 0] m @ earth and c{k}.frame as U{k}
            with universal(a{k}, b{k}) about [1, 0, 0] then [0, 1, 0] end ;
        join c{k}.frame and p{k}.frame as L{k} with prismatic(s{k}) along [0, 0, 1] end ;
        join p{k}.frame and [{high[k, 0]:.12f}, {high[k, 1]:.12f}, 0] m @ top as S{k}
            with spherical(u{k}, v{k}, w{k}) angles xyz end ;
        """
    text += "init z about 1.5 m, " + ", ".join(f"s{k} about 1.8 m" for k in range(6)) + " ;"
    return low, high, ts.parse(text)


LEGS = [f"s{k}" for k in range(6)]


def test_the_stewart_platform_gains_freedom_where_it_is_turned_by_a_right_angle():
    """Oracle: Fichter (1986): a platform parallel to its base and turned by a quarter turn is singular."""
    platform = gough()[2]
    poses = [{"x": 0, "y": 0, "z": 1.5, "roll": 0, "pitch": 0, "yaw": yaw} for yaw in (0.4, np.pi / 2)]
    plain, turned = (actuation(platform, LEGS, ["x", "y", "z"], at=pose) for pose in poses)
    assert plain.kinds == ()
    assert turned.kinds == ("type 2",)
    assert turned.left_free == 1


@pytest.mark.slow
def test_the_singular_line_of_a_stewart_platform_at_one_orientation_is_that_of_its_legs_lines():
    """Oracle: Merlet (1989) and St-Onge and Gosselin (2000): the six lines of the legs depend on each other; for one
    orientation that is a polynomial of the third degree in the position."""
    low, high, platform = gough()
    held = {"z": 1.2, "roll": 0.4, "pitch": -0.5, "yaw": 1.45}
    drawn = singular_map(platform, ("x", -1.5, 1.5), ("y", -1.5, 1.5), LEGS, ["x", "y", *held],
                         locked=list(held), at={"x": 0.0, "y": 0.0, **held}, nodes=13)  # fmt: skip
    ends = high @ Rotation.from_euler("ZXY", [held["yaw"], held["roll"], held["pitch"]]).as_matrix().T

    def dependence(x, y):
        along = np.array([x, y, held["z"]]) + ends - low
        return np.linalg.det(np.hstack([along, np.cross(ends, along)]))

    sampled = np.array([[dependence(x, y) for x in np.linspace(-1, 1, 6)] for y in np.linspace(-1, 1, 6)])
    assert np.abs(np.diff(sampled, 4)).max() < 1e-9 < 1e-4 < np.abs(np.diff(sampled, 2)).max()
    points = np.vstack(drawn.lines["type 2"])
    assert max(abs(dependence(x, y)) for x, y in points) < 1e-6 * np.abs(sampled).max()
    assert drawn.share == 1.0
    assert missed(drawn, dependence) == []


def test_a_3_rpr_closes_as_often_as_its_sextic_has_real_roots():
    """Oracle: Gosselin, Sefrioui and Richard (1992): with x and y eliminated, the legs' lengths leave a polynomial of the
    sixth degree in the tangent of half the angle, which is one of degree three in exp(i phi)."""
    lengths = legs(np.array([1.7, 0.9, 0.3]))

    def eliminated(phi):
        turn = np.array([[np.cos(phi), -np.sin(phi)], [np.sin(phi), np.cos(phi)]])
        offsets = PLATE @ turn.T - BASE  # |p + offset|^2 = length^2; differences are linear in p
        sizes = np.sum(offsets**2, axis=1) - lengths**2
        matrix, right = 2 * (offsets[1:] - offsets[0]), sizes[0] - sizes[1:]
        whole = np.linalg.det(matrix)
        p = np.array([[matrix[1, 1], -matrix[0, 1]], [-matrix[1, 0], matrix[0, 0]]]) @ right  # whole times the place
        return p @ p + 2 * whole * (p @ offsets[0]) + whole**2 * sizes[0]

    harmonics = np.fft.fft([eliminated(2 * np.pi * k / 16) for k in range(16)]) / 16
    assert np.abs(harmonics[4:13]).max() < 1e-9 * np.abs(harmonics).max()
    roots = np.roots([*harmonics[3::-1], *harmonics[:-4:-1]])
    angles = np.sort([np.angle(z) for z in roots if abs(abs(z) - 1) < 1e-6])
    assert len(angles) in (2, 4, 6)
    assembly = ts.assemble(
        rpr3(), dict(zip(["d1", "d2", "d3"], lengths, strict=True)), locked=["d1", "d2", "d3"], starts=80
    )
    found = sorted((c.coordinates["phi"] + np.pi) % (2 * np.pi) - np.pi for c in assembly.configurations)
    assert found == pytest.approx(angles, abs=1e-6)


def test_the_middle_of_a_trammel_draws_a_circle():
    """Oracle: half way between the slides the radius is half the bar's length."""
    trammel = ts.parse(
        "mechanism trammel ;\n"
        + bodies("a", "bar", "b")
        + """
    join earth and a.frame as sx with prismatic(x) along [1, 0, 0] end ;
    join a.frame and bar.frame as A with revolute(q) end ;
    join [2, 0, 0] m @ bar and b.frame as B with revolute(p) end ;
    join earth and b.frame as sy with prismatic(y) along [0, 1, 0] end ;
    init x = 1 m, q about 120 deg, y about 1.7 m ;"""
    )
    curve = coupler_curve(trammel, "bar", (1.0, 0.0, 0.0), "x", 1.0, -1.0)
    assert len(curve) > 8
    assert np.linalg.norm(curve[:, :2], axis=1) == pytest.approx(1.0, abs=1e-9)


def ball_on_a_bar(ball):
    """A body that turns about the origin and is held by a bar, so that one of three angles follows from the others."""
    return ts.parse(f"""
    mechanism ball_on_a_bar ;
    let top = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;
    {ball}
    constrain distance [2, 1, 0] m @ earth to [1, 0.2, 0.1] m @ top = 1.5 m as bar ;
    init s1 about 0.1 rad, s2 about 0.2 rad, s3 about 0.3 rad ;
    """)


@pytest.mark.slow
def test_angles_of_a_ball_are_driven_locked_and_actuated_by_their_names():
    """Oracle: the same turns as three hinges one after the other."""
    hinges = """
    let first = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;
    let second = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;
    join earth and first.frame as S1 with revolute(s1) about [1, 0, 0] end ;
    join first.frame and second.frame as S2 with revolute(s2) about [0, 1, 0] end ;
    join second.frame and top.frame as S3 with revolute(s3) about [0, 0, 1] end ;
    """
    ball, three = (
        ball_on_a_bar(text)
        for text in ("join earth and top.frame as S with spherical(s1, s2, s3) angles xyz end ;", hinges)
    )
    reports = [ts.actuation(m, ["s1", "s2"], ["s3"]) for m in (ball, three)]
    assert np.allclose(reports[0].jacobian, reports[1].jacobian, atol=1e-9)
    drives = [ts.drive(m, "s1", 0.1, 2.5, locked=["s2"]) for m in (ball, three)]
    assert np.allclose(drives[0].closed, drives[1].closed, atol=1e-6)
    assert len(ts.assemble(ball, locked=["s1", "s2"]).configurations) == 2
