"""A J Bᵀ - B J Aᵀ = T: the box of the reference, and trees of segments made of point masses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import torseur as ts
from analysis.identification import box
from torseur.algebra.graph import evaluate
from torseur.analysis.identification import Trial, identify, linear_model
from torseur.analysis.identification.segments import (
    MechanismMotion,
    PoinsotCost,
    Stopping,
    descend,
    identify_segments,
    inertia_from_poinsot,
    joint_centre,
    poinsot_matrix,
    segment_chain,
    segment_trial,
    trial_of_mechanism,
)
from torseur.description.mechanism import Equation
from torseur.errors import IdentificationError, UnsupportedError

REFERENCE = box.reference()
J_BOX = np.array(REFERENCE["J_exact"])
KINDS = {"printed 2*dt second difference": 2, "standard dt second difference": 1}


@pytest.mark.slow
def test_the_integrated_box_is_the_recorded_one():
    rotation, point, force = box.recorded()
    states = box.integrated()
    assert np.abs(states[:, :3] - point).max() < 1e-11
    assert max(np.abs(box.rotation_of(s[6:10]) - R).max() for s, R in zip(states, rotation, strict=True)) < 1e-11
    tensions = np.array([box.accelerations(s)[2] for s in states])
    assert np.abs(tensions - np.linalg.norm(force, axis=1)).max() < 1e-9


@pytest.mark.parametrize(("positive", "most"), [(False, 12), (True, 30)])
def test_box_with_exact_accelerations(positive, most):
    found = identify_segments([box.exact_trial()], positive=positive, stopping=Stopping())
    assert np.abs(found.J - J_BOX).max() < 1e-9
    assert found.descent.iterations <= most
    assert (found.descent.projections > 0) == positive
    assert not found.warnings


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("positive", "most"), [(False, 12), (True, 30)])
def test_box_with_finite_differences(kind, positive, most):
    """Oracle: the least-squares solution and the error stated with the reference data."""
    stored = REFERENCE["identification"][kind]
    found = identify_segments([box.trial(KINDS[kind])], positive=positive, stopping=Stopping())
    assert np.abs(found.J - np.array(stored["least_squares_J"])).max() < 1e-9
    assert np.abs(found.J - J_BOX).max() == pytest.approx(stored["LS max err"], rel=1e-9)
    assert found.descent.iterations <= most
    assert found.descent.iterates[0].gradient == pytest.approx(stored["integral dt"]["grad norms"][0], rel=1e-12)
    path = [step.smallest for step in found.descent.iterates]
    if not positive:
        assert np.allclose(path[:6], stored["integral dt no projection"]["min eig along path"][:6], atol=1e-6)


def test_trials_add_up_and_a_plain_sum_gives_the_same():
    once, twice = identify_segments([box.trial(1)]), identify_segments([box.trial(1), box.trial(1, 1.0)])
    assert np.abs(once.J - twice.J).max() < 1e-10


@pytest.mark.slow
def test_every_stopping_rule_stops():
    for rule, words in (
        (Stopping(gradient=1e-4), "gradient"),
        (Stopping(gradient=None, cost=1e-6), "cost"),
        (Stopping(gradient=None, change=1e-4), "entry"),
        (Stopping(iterations=3), "number of iterations"),
    ):
        descent = descend(PoinsotCost.of([box.exact_trial()]), stopping=rule)
        assert words in descent.reason and descent.iterations <= 40
    assert not descent.converged
    with pytest.raises(IdentificationError, match="stopped before the least cost .*number of iterations"):
        identify_segments([box.exact_trial()], stopping=Stopping(iterations=3))


def test_deviation_is_that_of_repeated_noise():
    """Oracle: the spread of fits to the same motion under fresh noise on the force."""
    rng = np.random.default_rng(0)
    trial = box.exact_trial()
    found = []
    for _ in range(200):
        noise = 0.05 * rng.normal(size=(len(trial.A), 6))
        T = trial.T + box_noise(noise)
        noisy = type(trial)(trial.A, trial.B, T, trial.weights)
        found.append(identify_segments([noisy], positive=False))
    spread = np.std([one.J for one in found], axis=0)
    assert np.allclose(found[0].deviation, spread, rtol=0.25)


def box_noise(values: np.ndarray) -> np.ndarray:
    T = np.zeros((len(values), 4, 4))
    T[:, *np.triu_indices(4, 1)] = values
    return T - np.swapaxes(T, 1, 2)


# Two segments on a ball joint, made of point masses: everything is a sum over points.

CENTRE = np.array([0.3, -0.1, 0.2])


def clouds(seed: int = 1) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return [(rng.uniform(0.2, 1.0, 6), rng.uniform(-0.3, 0.5, (6, 3))) for _ in range(2)]


def limb_motion(count: int, first_still: bool) -> dict[str, np.ndarray]:
    """Rotations and a point as smooth functions of time, differentiated by complex steps of their angles' series."""
    t = np.linspace(0, 3, count)
    h = 1e-4

    def rotation(times, phase):
        rate = 1 + 0.4 * phase
        angles = np.stack(
            [np.sin(1.3 * times + phase), np.cos(1.9 * rate * times), np.sin(0.7 * times) - phase * times], 1
        )
        return Rotation.from_euler("xyz", angles).as_matrix()

    def second(function):
        """Sixth-order difference: exact to about 1e-8."""
        c = [2, -27, 270, -490, 270, -27, 2]
        return sum(k * function(t + j * h * 25) for j, k in zip(range(-3, 4), c, strict=True)) / (180 * (25 * h) ** 2)

    still = np.broadcast_to(np.eye(3), (count, 3, 3))
    R1, dd1 = (still, 0 * still) if first_still else (rotation(t, 0.0), second(lambda s: rotation(s, 0.0)))
    point = lambda s: np.stack([np.sin(2 * s), 0.3 * np.cos(s), 0.2 * np.sin(3 * s)], 1)  # noqa: E731
    a = np.zeros((count, 3)) if first_still else second(point)
    return {"R1": R1, "dd1": dd1, "R2": rotation(t, 1.0), "dd2": second(lambda s: rotation(s, 1.0)), "a": a}


def limb_trial(first_still: bool = False, count: int = 300):
    motion, (one, two) = limb_motion(count, first_still), clouds()
    g = np.array([0, 0, -9.81])
    force, moment = np.zeros((count, 3)), np.zeros((count, 3))
    for masses, points, R, dd, base, base_dd in (
        (*one, motion["R1"], motion["dd1"], 0, 0),
        (*two, motion["R2"], motion["dd2"], motion["R1"] @ CENTRE, motion["dd1"] @ CENTRE),
    ):
        for m, r in zip(masses, points, strict=True):
            f = m * (motion["a"] + base_dd + dd @ r - g)
            force, moment = force + f, moment + np.cross(base + R @ r, f)
    return segment_trial(
        [motion["R1"], motion["R2"]], [motion["dd1"], motion["dd2"]], motion["a"], force, moment, gravity=g
    )


def limb_matrix() -> np.ndarray:
    (m1, r1), (m2, r2) = clouds()
    z1 = np.hstack([0 * r1, r1, np.ones((6, 1))])
    z2 = np.hstack([r2, np.tile(CENTRE, (6, 1)), np.ones((6, 1))])
    return (z1.T * m1) @ z1 + (z2.T * m2) @ z2


def limb_mechanism() -> ts.Mechanism:
    bodies = []
    for name, (m, r) in zip(("trunk", "arm"), clouds(), strict=True):
        c = m @ r / m.sum()
        S = (r - c).T @ ((r - c) * m[:, None])
        I = np.trace(S) * np.eye(3) - S
        matrix = ts.inertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        bodies.append(ts.body(name, mass=m.sum(), centre=tuple(c), inertia=matrix))
    trunk, arm = bodies
    joints = [
        ts.free("root", ts.EARTH, trunk, *"xyz", *"abcd", angles="quaternion", speeds="body"),
        ts.spherical("shoulder", trunk.at(tuple(CENTRE)), arm, *"efgh", angles="quaternion"),
    ]
    return ts.Mechanism("limb", bodies=bodies, joints=joints, gravity=(0, 0, -9.81))


def test_matrix_is_generated_from_the_mechanism():
    tree = ts.build_tree(limb_mechanism())
    found = np.array([[float(x) for x in evaluate(row, {})] for row in poinsot_matrix(tree)])
    assert np.abs(found - limb_matrix()).max() < 1e-14


def test_two_segments_and_their_joint_centre():
    """The whole 7x7 matrix follows from the wrench at one point; d = K₊ᵀ (m c) / |m c|²."""
    found = identify_segments([limb_trial()], np.eye(7))
    chain = segment_chain(ts.build_tree(limb_mechanism()))
    assert np.abs(found.J - limb_matrix()).max() < 1e-6
    assert np.abs(joint_centre(found.J, chain, "arm") - CENTRE).max() < 1e-6
    with pytest.raises(IdentificationError, match="no joint centre"):
        joint_centre(found.J, chain, "trunk")


def test_combinations_that_cannot_be_told_apart_are_named():
    """Segments that turn together: only sums of their entries are felt."""
    trial = limb_trial()
    A, B = trial.A.copy(), trial.B.copy()
    A[:, :, :3], B[:, :, :3] = A[:, :, 3:6], B[:, :, 3:6]
    found = identify_segments([type(trial)(A, B, trial.T, trial.weights)])
    assert found.undetermined[:3, :3].any() and not found.undetermined[6, 6]
    assert any("only together" in text for text in found.warnings)


def test_what_is_not_excited_keeps_its_start_and_is_named():
    """A trunk at rest: its own moments are not felt, the arm's are found (as in the source, chapter 5)."""
    start = np.eye(7)
    found = identify_segments([limb_trial(first_still=True)], start)
    truth = limb_matrix()
    assert np.abs(found.J[:3, :3] - truth[:3, :3]).max() < 1e-6
    assert np.abs(found.J[:3, 6] - truth[:3, 6]).max() < 1e-6
    assert found.J[6, 6] == pytest.approx(truth[6, 6], abs=1e-6)
    assert np.abs(found.J[3:6, 3:6] - start[3:6, 3:6]).max() < 1e-9
    assert found.unexcited[3:6, 3:6].all() and not found.unexcited[:3, :3].any()
    assert any("does not excite J[3,3]" in text for text in found.warnings)


def test_a_known_zero_block_stays_zero():
    zero = np.zeros((7, 7), dtype=bool)
    zero[:3, 3:6] = zero[3:6, :3] = True
    found = identify_segments([limb_trial()], known_zero=zero)
    assert np.array_equal(found.J[:3, 3:6], np.zeros((3, 3)))
    assert np.linalg.eigvalsh(found.J)[0] > -1e-9


@pytest.mark.slow
def test_branches_that_do_not_meet_have_zero_blocks():
    trunk, left, right = (ts.body(name, mass=1, centre=(0, 0, 0), inertia=ts.inertia(1, 1, 1)) for name in "tlr")
    joints = [
        ts.free("root", ts.EARTH, trunk, *"xyz", *"abc"),
        ts.spherical("left", trunk.at((1, 0, 0)), left, *"def"),
        ts.spherical("right", trunk.at((0, 1, 0)), right, *"ghi"),
    ]  # fmt: skip
    tree = ts.build_tree(ts.Mechanism("t", bodies=[trunk, left, right], joints=joints))
    chain = segment_chain(tree)
    matrix = np.array([[float(x) for x in evaluate(row, {})] for row in poinsot_matrix(tree)])
    assert chain.zero_blocks[chain.rows("l"), chain.rows("r")].all()
    assert not matrix[chain.zero_blocks].any()
    assert chain.zero_blocks.sum() == 18


def test_trial_from_the_mechanism_agrees_with_the_equations():
    """Oracle: the wrench at the root by inverse dynamics, from the same J."""
    from torseur.derivation import dynamics as td

    mechanism = limb_mechanism()
    tree = ts.build_tree(mechanism)
    rng = np.random.default_rng(5)
    n, count = len(tree.layout.speeds), 40
    quaternions = rng.normal(size=(count, 4)), rng.normal(size=(count, 4))
    unit = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in quaternions]
    q = np.hstack([rng.normal(size=(count, 3)), unit[0], unit[1]])
    v, vdot = rng.normal(size=(count, n)), rng.normal(size=(count, n))
    tau = np.array(td.inverse_dynamics(tree, list(q.T), list(v.T), list(vdot.T))).T
    R = Rotation.from_quat(unit[0][:, [1, 2, 3, 0]]).as_matrix()
    force, moment = (np.einsum("tij,tj->ti", R, part) for part in wrench(tree, tau))
    trial = trial_of_mechanism(mechanism, MechanismMotion(q, v, vdot), force, moment)
    assert np.abs(trial.residual(limb_matrix())).max() < 1e-11


def wrench(tree, tau):
    """Generalised forces of the free joint as force and moment in body axes, by the names of its speeds."""
    names = tree.layout.speed_names
    units = [v.data.unit for v in tree.layout.speeds[:6]]
    linear = [k for k in range(6) if units[k] == "m/s"]
    angular = [k for k in range(6) if units[k] != "m/s"]
    assert len(linear) == 3, names
    return tau[:, linear], tau[:, angular]


@pytest.mark.slow
@pytest.mark.parametrize("links", [2, 3, 4])
@pytest.mark.parametrize("positive", [True, False])
def test_noise_free_chains_are_recovered(links, positive):
    """Point masses on ball joints, moved at random: Newton's law for every point gives the wrench."""
    rng = np.random.default_rng(links)
    count, g = 400, np.array([0, 0, -9.81])
    R = [Rotation.random(count, random_state=k).as_matrix() for k in range(links)]
    second = [rng.normal(size=(count, 3, 3)) @ r for r in R]
    root = rng.normal(size=(count, 3))
    steps = rng.uniform(-0.5, 0.5, (links, 3))
    force, moment, J = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((3 * links + 1,) * 2)
    for k in range(links):
        base = sum((R[i] @ steps[i] for i in range(k)), np.zeros((count, 3)))
        bent = root + sum((second[i] @ steps[i] for i in range(k)), np.zeros((count, 3)))
        for m, r in zip(rng.uniform(0.1, 2, 3), rng.uniform(-0.4, 0.4, (3, 3)), strict=True):
            f = m * (bent + second[k] @ r - g)
            force, moment = force + f, moment + np.cross(base + R[k] @ r, f)
            parts = [np.zeros(3)] * (links - 1 - k) + [r] + [steps[i] for i in reversed(range(k))]
            z = np.concatenate([*parts, [1.0]])
            J += m * np.outer(z, z)
    trial = segment_trial(R, second, root, force, moment, gravity=g)
    found = identify_segments([trial], positive=positive)
    assert np.abs(found.J - J).max() < 1e-6 * np.abs(J).max()
    assert not found.warnings and (found.certificate is None) == (not positive)


def test_a_single_body_on_a_string():
    """The recorded box as a mechanism: free to move, but for the string to the earth."""
    body = ts.body("box", mass=1, centre=(0, 0, 0), inertia=ts.inertia(1, 1, 1))
    names = (*"xyz", "e0", "e1", "e2", "e3")
    flight = ts.free("flight", ts.EARTH, body, *names, angles="quaternion", speeds="body")
    x, y, z = (ts.Coordinate(name, "m").symbol for name in "xyz")
    states = box.integrated()
    string = Equation("string", x**2 + y**2 + z**2 - float(states[0, :3] @ states[0, :3]))
    mechanism = ts.Mechanism("box", bodies=[body], joints=[flight], constraints=[string], gravity=(0, 0, -9.81))
    assert segment_chain(ts.build_tree(mechanism)).names == ("box",)
    bent = [box.accelerations(s) for s in states]
    turned = [box.rotation_of(s[6:10]) for s in states]
    speeds, rates = [], []
    for s, R, (linear, angular, _) in zip(states, turned, bent, strict=True):
        u, w = R.T @ s[3:6], s[10:]
        speeds.append([*u, *w])
        rates.append([*(R.T @ linear - np.cross(w, u)), *angular])
    motion = MechanismMotion(np.hstack([states[:, :3], states[:, 6:10]]), np.array(speeds), np.array(rates))
    force = box.recorded()[2]
    found = identify_segments([trial_of_mechanism(mechanism, motion, force, np.zeros_like(force))])
    assert np.abs(found.J - J_BOX).max() < 1e-8


def test_inertia_of_a_poinsot_matrix():
    mass, moment, matrix = inertia_from_poinsot(J_BOX)
    assert np.abs(matrix - np.array(REFERENCE["I_P1"])).max() < 1e-15
    K = np.trace(matrix) / 2 * np.eye(3) - matrix
    assert np.abs(np.block([[K, moment[:, None]], [moment, mass]]) - J_BOX).max() < 1e-15


def test_without_projection_a_matrix_of_no_body_is_named():
    """Ten samples under strong noise: least squares is no mass distribution, and says so."""
    trial = box.exact_trial()
    rng = np.random.default_rng(2)
    part = slice(0, 12)
    T = trial.T[part] + box_noise(3.0 * rng.normal(size=(12, 6)))
    noisy = type(trial)(trial.A[part], trial.B[part], T, trial.weights[part])
    plain, kept = identify_segments([noisy], positive=False), identify_segments([noisy])
    assert any("negative eigenvalue" in text for text in plain.warnings)
    assert np.linalg.eigvalsh(kept.J)[0] > -1e-9 and not any("negative" in text for text in kept.warnings)


def test_bad_trials_are_refused():
    trial = box.exact_trial()
    A = trial.A.copy()
    A[7, 0, 0] = np.nan
    with pytest.raises(IdentificationError, match="A is not a number at sample 7"):
        type(trial)(A, trial.B, trial.T, trial.weights)
    still = segment_trial(
        [np.tile(np.eye(3), (5, 1, 1))], [np.zeros((5, 3, 3))], np.zeros((5, 3)), np.zeros((5, 3)), np.zeros((5, 3)),
        gravity=(0, 0, 0),
    )  # fmt: skip
    with pytest.raises(IdentificationError, match="unexcited motion"):
        identify_segments([still])
    with pytest.raises(IdentificationError, match="at least one trial"):
        identify_segments([])


def test_sliding_joints_are_refused():
    cart = ts.body("cart", mass=1, centre=(0, 0, 0), inertia=0)
    slide = ts.body("slide", mass=1, centre=(0, 0, 0), inertia=0)
    joints = [
        ts.revolute("pin", ts.EARTH, cart, ts.Coordinate("q"), (0, 0, 1)),
        ts.prismatic("rail", cart, slide, ts.Coordinate("x", "m"), (1, 0, 0)),
    ]
    with pytest.raises(UnsupportedError, match="lets its bodies slide"):
        segment_chain(ts.build_tree(ts.Mechanism("s", bodies=[cart, slide], joints=joints)))


def test_a_free_root_takes_the_wrench_of_a_plate():
    """The regressor with six recorded forces of the root and no other gives each segment's own combinations.

    Oracle: the limb of point masses; its trunk floats, and the joint's torques are not recorded.
    """
    mechanism = limb_mechanism()
    model = linear_model(mechanism)
    rng = np.random.default_rng(3)
    count, names = 80, model.equations.layout.speed_names
    quaternions = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in rng.normal(size=(2, count, 4))]
    q = np.hstack([rng.normal(size=(count, 3)), *quaternions])
    v, vdot = rng.normal(size=(2, count, len(names)))
    truth = np.concatenate([cloud_parameters(*cloud) for cloud in clouds()])
    tau = model.matrix(q, v, vdot) @ truth
    tau[:, 6:] = 0.0
    trial = Trial("plate", np.arange(float(count)), q, v, vdot, tau, (True,) * 6 + (False,) * 3)
    found = identify(model, [trial], "consistent")
    assert np.abs(found.values - found.combination @ truth).max() < 1e-8
    assert {"trunk.mass", "arm.h.x", "arm.Ixx"} <= set(found.names)


def cloud_parameters(m, r):
    S = r.T @ (r * m[:, None])
    I = np.trace(S) * np.eye(3) - S
    return np.array([m.sum(), *(m @ r), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])
