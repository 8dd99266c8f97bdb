"""Inverse kinematics of whole trials."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur as ts
from analysis.biomechanics.humanoid import humanoid, smooth_motion
from counting import calls_of, forget_caches
from strategies import mechanisms
from torseur.analysis.biomechanics import Z_UP, MarkerModel, Markers, inverse_kinematics
from torseur.analysis.biomechanics.tracking.marker_equations import MarkerEquations
from torseur.analysis.identification import Derivatives
from torseur.computation.codegen import compile_program
from torseur.derivation.tree import GROUND, build_tree
from torseur.errors import RecordingError, UnsupportedError

RATE = 100.0


def arm(line: bool = False) -> ts.Mechanism:
    """Upper arm on a ball joint, forearm on a hinge, with three markers each; `line`: the upper arm's on its axis."""
    upper, fore = ts.body("upper", mass=2), ts.body("fore", mass=1)
    joints = [ts.spherical("shoulder", ts.EARTH, upper, "a", "b", "c", angles="zxy"),
              ts.revolute("elbow", upper.frame.at([0, 0, -0.3]), fore, "e", [0, 1, 0])]  # fmt: skip
    beside = 0.0 if line else 0.05
    frames = {"U1": upper.frame.at([beside, 0, -0.05]), "U2": upper.frame.at([0, beside, -0.15]), "U3": upper.frame.at([0, 0, -0.28]),
              "F1": fore.frame.at([0.04, 0, -0.05]), "F2": fore.frame.at([0, 0.04, -0.2]), "F3": fore.frame.at([0, 0, -0.25])}  # fmt: skip
    return ts.Mechanism("arm", bodies=[upper, fore], joints=joints, frames=frames)


def recorded(mechanism: ts.Mechanism, q: np.ndarray) -> Markers:
    """Exact markers of a motion."""
    model = MarkerModel(mechanism, dict(mechanism.frames), {})
    times = np.arange(len(q)) / RATE
    return Markers(times, tuple(dict(mechanism.frames)), model.positions(times, q), Z_UP)


def without(markers: Markers, labels: tuple[str, ...], frames: slice) -> Markers:
    positions = markers.positions.copy()
    positions[frames, [markers.slot(label) for label in labels]] = np.nan
    return Markers(markers.time, markers.labels, positions, markers.axes)


@pytest.fixture(scope="module")
def figure() -> tuple[ts.Mechanism, np.ndarray, Markers]:
    mechanism = humanoid()
    q = smooth_motion(np.arange(1000) / RATE, 36)
    return mechanism, q, recorded(mechanism, q)


def test_places_of_markers_by_hand():
    """Oracle: one hinge at a right angle, by eye."""
    model = MarkerModel(arm(), {"F3": arm().frame("F3")}, {})
    found = model.positions(np.zeros(1), np.array([[0, 0, 0, np.pi / 2]]))[0, 0]
    assert np.allclose(found, [-0.25, 0, -0.3])


def test_normal_equations_are_those_of_the_jacobian():
    """Oracle: central differences of the markers' places; weights and quaternion speeds included."""
    mechanism = humanoid("quaternion")
    equations = MarkerEquations(ts.derive(mechanism), dict(mechanism.frames))
    rng = np.random.default_rng(0)
    n, count = 36, len(equations.places)
    q = 0.5 * rng.normal(size=37)
    q[3:7] /= np.linalg.norm(q[3:7])
    weights, points, p = (
        rng.uniform(0, 2, count),
        rng.normal(size=3 * count),
        np.zeros(len(ts.derive(mechanism).layout.parameters)),
    )
    normal, places, step = (compile_program(getattr(equations, name)) for name in ("normal", "positions", "step"))

    def moved(change):
        return places(t=[0.0], q=step(t=[0.0], q=q, p=p, change=change)["moved"], p=p)["x"]

    J = np.column_stack([(moved(1e-6 * d) - moved(-1e-6 * d)) / 2e-6 for d in np.eye(n)])
    w, gap = np.repeat(weights, 3), points - moved(np.zeros(n))
    found = normal(t=[0.0], q=q, p=p, points=points, weights=weights)
    assert np.allclose(found["matrix"], (J.T @ (w[:, None] * J))[np.tril_indices(n)], atol=1e-7)
    assert np.allclose(found["right"], J.T @ (w * gap), atol=1e-7)
    assert found["cost"][0] == pytest.approx(float(w @ gap**2))


@pytest.mark.slow
def test_exact_markers_give_the_motion(figure):
    mechanism, q, markers = figure
    found = inverse_kinematics(mechanism, markers)
    assert np.abs(found.q - q).max() < 1e-9
    assert found.converged.all() and found.greatest < 1e-9 and not found.notes


def test_a_thousand_frames_of_36_freedoms_take_few_rounds_and_no_calls_of_python(figure):
    """Seven rounds a frame; a thousand frames make thirty calls each more than three frames do, whose loop is compiled."""
    mechanism, q, markers = figure
    noisy = markers.with_noise(0.003, np.random.default_rng(1))
    forget_caches()
    motions = [inverse_kinematics(mechanism, noisy.frames(slice(0, 3)))]  # compiles
    few, many = (
        calls_of(lambda part=part: motions.append(inverse_kinematics(mechanism, part)))
        for part in (noisy.frames(slice(0, 3)), noisy)
    )
    found = motions[-1]
    assert many - few < 100 * 1000
    assert found.converged.all() and found.rounds.mean() < 10
    assert found.rms == pytest.approx(0.003 * np.sqrt(1 - 36 / (3 * 44)), rel=0.03)
    assert np.median(np.abs(found.q - q)) < 0.02


def test_noise_is_fitted_as_scipy_fits_it():
    """Oracle: scipy's least_squares, from the same start, frame by frame."""
    from scipy.optimize import least_squares

    mechanism = arm()
    noisy = recorded(mechanism, smooth_motion(np.arange(20) / RATE, 4)).with_noise(0.01, np.random.default_rng(2))
    weights = {"U1": 3.0, "F2": 0.25}
    found = inverse_kinematics(mechanism, noisy, weights=weights)
    model = MarkerModel(mechanism, dict(mechanism.frames), {})
    root = np.sqrt([weights.get(label, 1.0) for label in noisy.labels])[:, None]
    for k in (0, 7, 19):

        def gaps(q, k=k):
            return (root * (model.positions(np.zeros(1), q[None])[0] - noisy.positions[k])).reshape(-1)

        expected = least_squares(gaps, found.q[k] + 0.05, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
        assert np.allclose(found.q[k], expected, atol=1e-6)


def test_limits_are_kept_and_the_rest_adapts():
    """Oracle: scipy's bounded least squares."""
    from scipy.optimize import least_squares

    mechanism = arm()
    q = smooth_motion(np.arange(60) / RATE, 4, size=1.0)
    markers = recorded(mechanism, q)
    low, high = float(np.quantile(q[:, 3], 0.2)), float(np.quantile(q[:, 3], 0.6))
    found = inverse_kinematics(mechanism, markers, limits={"e": (low, high)})
    assert found.q[:, 3].min() >= low and found.q[:, 3].max() <= high
    model = MarkerModel(mechanism, dict(mechanism.frames), {})
    k = int(np.argmax(q[:, 3]))

    def gaps(x):
        return (model.positions(np.zeros(1), x[None])[0] - markers.positions[k]).reshape(-1)

    bounds = ([-10, -10, -10, low], [10, 10, 10, high])
    expected = least_squares(
        gaps, np.append(q[k, :3], (low + high) / 2), bounds=bounds, xtol=1e-15, ftol=1e-15, gtol=1e-15
    ).x
    assert np.allclose(found.q[k], expected, atol=1e-5)


def test_the_first_frame_is_found_from_any_side(figure):
    """A figure that faces backwards and lies down at the start."""
    mechanism, q, _ = figure
    turned = q[:5].copy()
    turned[:, :3] += [4.0, -3.0, 2.0]
    turned[:, 3:6] += [2.8, 1.4, 0.5]
    markers = recorded(mechanism, turned)
    assert inverse_kinematics(mechanism, markers).greatest < 1e-8


@pytest.mark.slow
def test_missing_markers(figure):
    """One marker less changes nothing; a whole segment less leaves its coordinates unknown, and says so."""
    mechanism, q, markers = figure
    few = markers.frames(slice(0, 60))
    holes = without(few, ("head1", "pelvis2"), slice(10, 30))
    assert np.abs(inverse_kinematics(mechanism, holes).q - q[:60]).max() < 1e-9
    shank = tuple(f"left_shank{k}" for k in (1, 2, 3, 4))
    found = inverse_kinematics(mechanism, without(few, shank, slice(20, 31)))
    lost = np.isnan(found.q)
    assert lost[20:31, -3:].all() and lost.sum() == 33
    assert found.notes == (
        "not determined by the markers seen in frames 20 to 30: left_shank_z, left_shank_x, left_shank_y",
    )
    with pytest.raises(RecordingError, match="'left_shank_z' is not determined in every frame"):
        found.rates()


def test_a_frame_without_any_marker_is_a_hole(figure):
    mechanism, q, markers = figure
    holes = without(markers.frames(slice(0, 12)), markers.labels, slice(5, 6))
    found = inverse_kinematics(mechanism, holes)
    assert np.isnan(found.q[5]).all() and not found.converged[5]
    assert np.abs(np.delete(found.q - q[:12], 5, axis=0)).max() < 1e-9
    assert "frames 5: all coordinates" in found.notes[0]


def test_markers_on_a_line_are_named_and_a_coordinate_can_be_held():
    mechanism = arm(line=True)
    few = {label: mechanism.frame(label) for label in ("U1", "U2", "U3")}
    markers = recorded(mechanism, smooth_motion(np.arange(8) / RATE, 4)).only(list(few))
    with pytest.raises(
        RecordingError, match="do not determine .*e of 'arm' in any frame: too few markers, or markers on a line"
    ):
        inverse_kinematics(mechanism, markers)
    held = inverse_kinematics(mechanism, markers, held={"e": 0.3, "c": 0.1})
    assert np.allclose(held.q[:, 3], 0.3) and np.allclose(held.q[:, 2], 0.1)


def test_swapped_labels_show_as_distance(figure):
    from torseur.analysis.biomechanics.recordings.label_check import exchange_labels

    mechanism, _, markers = figure
    wrong = exchange_labels(markers.frames(slice(0, 30)), "left_shank4", "right_forearm1", slice(10, 20))
    found = inverse_kinematics(mechanism, wrong)
    note = found.notes[0]
    assert "mm from the mechanism in frames 10 to 19: " in note and "left_shank4" in note and "Swapped labels" in note


def test_closed_loops_stay_closed():
    """A four-bar followed by one marker on its coupler: the oracle is its own assembly."""
    from torseur.description import library

    mechanism = library.load("four_bar")
    coupler = mechanism.joint(mechanism.joints[1].name).child.body
    place = {"M": mechanism.body(coupler).frame.at([0.1, 0.05, 0])}
    angles = np.linspace(1.0, 1.6, 12)
    start = mechanism.joints[0].coordinates[0].name
    rows = [ts.assemble(mechanism, {start: float(x)}, locked=[start]).configurations[0].coordinates for x in angles]
    model = MarkerModel(mechanism, place, {})
    q = np.array([[row[name] for name in model.layout.coordinate_names] for row in rows])
    times = np.arange(12) / RATE
    markers = Markers(times, ("M",), model.positions(times, q))
    initial = dict(zip(model.layout.coordinate_names, q[0] + 0.02, strict=True))
    found = inverse_kinematics(mechanism, markers, places=place, start=initial)
    assert np.abs(found.q - q).max() < 1e-6


def test_rates_of_the_fitted_motion(figure):
    mechanism, q, markers = figure
    found = inverse_kinematics(mechanism, markers.frames(slice(0, 100)))
    first, second = found.rates(Derivatives("spline"))
    exact = np.gradient(q, 1 / RATE, axis=0, edge_order=2)[:100]
    assert np.abs(first - exact)[5:-5].max() < 1e-2
    assert second.shape == (100, 36)


@pytest.mark.parametrize(("keywords", "message"), [
    ({"places": {"X": arm().frame("U1")}}, "unknown marker 'X'"),
    ({"places": {"U1": ts.EARTH}}, "marker 'U1' is fixed to the earth"),
    ({"weights": {"Q": 1.0}}, "weights: unknown marker 'Q'"),
    ({"weights": {"U1": -1.0}}, "that of 'U1' is a number from zero up, not -1.0"),
    ({"limits": {"elbow": (0.0, 1.0)}}, "limits: unknown coordinate 'elbow'"),
    ({"limits": {"e": (1.0, 0.0)}}, "limits of 'e': 1 is greater than 0"),
])  # fmt: skip
def test_refusals(keywords, message):
    markers = recorded(arm(), smooth_motion(np.arange(3) / RATE, 4))
    with pytest.raises(RecordingError, match=message):
        inverse_kinematics(arm(), markers, **keywords)


@pytest.mark.slow
def test_other_refusals():
    markers = recorded(arm(), smooth_motion(np.arange(3) / RATE, 4))
    strange = Markers(markers.time, tuple("uvwxyz"), markers.positions)
    with pytest.raises(RecordingError, match="none of the recorded markers is a frame of 'arm'. Recorded: u, v"):
        inverse_kinematics(arm(), strange)
    with pytest.raises(UnsupportedError, match="'e1' cannot be limited or held"):
        figure = humanoid("quaternion")
        inverse_kinematics(figure, recorded(figure, np.eye(37)[[3]]), limits={"e1": (0, 1)})


def test_unused_markers_are_noted():
    markers = recorded(arm(), smooth_motion(np.arange(3) / RATE, 4))
    more = Markers(
        markers.time, (*markers.labels, "EXTRA"), np.concatenate([markers.positions, markers.positions[:, :1]], axis=1)
    )
    assert inverse_kinematics(arm(), more).notes == ("markers without a place on the mechanism, not used: EXTRA",)


def test_a_prepared_model_follows_many_recordings():
    mechanism = arm()
    model = MarkerModel(mechanism, dict(mechanism.frames), {})
    q = smooth_motion(np.arange(6) / RATE, 4)
    markers = recorded(mechanism, q)
    assert np.abs(inverse_kinematics(model, markers).q - q).max() < 1e-9
    fewer = inverse_kinematics(model, markers.only(["U1", "U2", "F1", "F3", "U3"]))
    assert np.abs(fewer.q - q).max() < 1e-9
    assert fewer.notes == ("markers of the mechanism that were not recorded: F2",)
    with pytest.raises(RecordingError, match="has its own places and parameters"):
        inverse_kinematics(model, markers, parameters={})


def test_a_person_who_turned_round_in_a_gap_is_found_again(figure):
    mechanism, q, _ = figure
    turned = q[:60].copy()
    turned[40:, :3] += [1.0, -2.0, 0.0]
    turned[40:, 3] += 2.9
    markers = recorded(mechanism, turned)
    for label in markers.labels:
        markers = markers.without(label, slice(30, 40))
    found = inverse_kinematics(mechanism, markers)
    assert np.isnan(found.q[30:40]).all()
    assert found.greatest < 1e-8


def test_masses_play_no_part_and_time_may_drive():
    """A turntable that turns by itself, an arm of unknown mass on it: the oracle is trigonometry."""
    text = """mechanism table ;
    let disc = body end ;  let pointer = body end ;
    join earth and disc.frame as axle with link() dof1 = 2 rad/s * t || [0, 0, 1] end ;
    join [0.5, 0, 0] m ++ 1 @ disc and pointer.frame as pin with revolute(a) about [0, 0, 1] end ;
    let P = [0.2, 0, 0] m ++ 1 @ pointer ;"""
    mechanism = ts.parse(text)
    times = np.arange(40) / RATE
    angle = 0.5 * np.sin(5 * times)
    turn, tip = 2 * times, 2 * times + angle
    zero = np.zeros_like(times)
    place = 0.5 * np.stack([np.cos(turn), np.sin(turn), zero], axis=1) + 0.2 * np.stack(
        [np.cos(tip), np.sin(tip), zero], axis=1
    )
    found = inverse_kinematics(mechanism, Markers(times, ("P",), place[:, None]))
    assert np.abs(found.of("a") - angle).max() < 1e-9


def test_a_length_without_value_is_asked_for():
    text = """mechanism rod ; param l "length" ; let rod = body end ;
    join earth and rod.frame as pin with revolute(a) about [0, 0, 1] end ; let P = [l, 0, 0] ++ 1 @ rod ;"""
    markers = Markers(np.zeros(1), ("P",), np.array([[[0.0, 2.0, 0.0]]]))
    with pytest.raises(RecordingError, match="depends on 'l', which has no value"):
        inverse_kinematics(ts.parse(text), markers)
    assert inverse_kinematics(ts.parse(text), markers, parameters={"l": 2.0}).q[0, 0] == pytest.approx(np.pi / 2)


@pytest.mark.slow
@given(mechanisms(max_bodies=4, loads=False), st.integers(0, 10**6))
@settings(max_examples=12)
def test_any_mechanism_follows_its_own_markers(mechanism, seed):
    """Every kind of joint, speeds of its own included: from nearby, the distances of exact markers vanish.

    Coordinates are compared through their markers, since a free angle of a joint in line with another has many values.
    """
    rng = np.random.default_rng(seed)
    carried = [body for body in mechanism.bodies if build_tree(mechanism).places[body.name][0] != GROUND]
    if not carried:
        return
    places = {f"{b.name}.{k}": b.frame.at([float(x) for x in rng.normal(size=3)]) for b in carried for k in range(4)}
    model = MarkerModel(mechanism, places, {})
    q = model.start({})
    times = np.zeros(1)
    markers = Markers(times, tuple(places), model.positions(times, q[None]))
    model_start = q + 0.02 * rng.normal(size=len(q))
    quaternion = [
        model.layout.coordinates.index(x) for link in model.equations.tree.links for x in link.symbols.quaternion
    ]
    for k in range(0, len(quaternion), 4):
        model_start[quaternion[k : k + 4]] /= np.linalg.norm(model_start[quaternion[k : k + 4]])
    tracked = model.track(times, markers.positions, np.ones((1, len(places))), model_start, {}, 1e-10)
    assert np.abs(model.positions(times, tracked.q) - markers.positions).max() < 1e-7
