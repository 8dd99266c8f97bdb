"""How often 95 % intervals of the inertia of limbs and segments, of a joint's centre and of a robot's parameters hold.

Run: python benchmarks/bench_coverage.py [limb|segments|person|score|robot] [draws] [processes]

Every draw is a fresh recording of a known body: markers with errors within ±1 or ±3 mm, white, or related from frame to
frame by 0.9; plates with white noise of 1 N and 0.3 N m; encoders with 1e-3 rad, and torques with coloured noise. The
errors are those of the model of the fit: what skin does to markers systematically is not in them.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from analysis.identification.arms import SEVEN_R, arm
from analysis.identification.recordings import channels, forces, sines
from torseur.analysis.biomechanics.forces.foot_loads import human_footing
from torseur.analysis.biomechanics.forces.ground_reaction import ground_reaction, share_between_feet
from torseur.analysis.biomechanics.forces.trial_dynamics import trial_dynamics
from torseur.analysis.biomechanics.limb.limb_equations import PLACES
from torseur.analysis.biomechanics.motion.body_in_motion import BodyInMotion
from torseur.analysis.biomechanics.motion.joint_centres import score
from torseur.analysis.biomechanics.person import analyse_person
from torseur.analysis.biomechanics.person_model.human36 import human36
from torseur.analysis.biomechanics.recordings.motion_trial import MotionTrial
from torseur.analysis.biomechanics.simulated_trials import simulated_trial, walking
from torseur.analysis.identification import identify, linear_model, make_trial
from torseur.analysis.published_studies import shoulder, upper_limb

Draw = Callable[[int], tuple[np.ndarray, np.ndarray]]
PLATE = (1.0, 0.3)  # N, N m
ENCODER, TORQUE = 1e-3, 0.01  # rad, of each torque's scatter
RELATED = 0.9
FOLLOWED = ("r_hip_flexion", "r_hip_adduction", "r_knee_flexion", "r_ankle_flexion")


def marker_noise(shape: tuple[int, ...], size: float, related: float, rng: np.random.Generator) -> np.ndarray:
    """Errors within ± size, each frame like the one before by `related`."""
    fresh = rng.uniform(-size, size, shape)
    for k in range(1, shape[0]):
        fresh[k] = related * fresh[k - 1] + np.sqrt(1 - related**2) * fresh[k]
    return fresh


def limb(size: float, related: float) -> Draw:
    """Errors and deviations of the six numbers of the inertia matrix and of the first moment."""
    exact = upper_limb.recordings()
    inertia, moment = upper_limb.limb().inertia
    truth = np.concatenate([[inertia[place] for place in PLACES], moment])

    def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
        seen = disturbed(exact, size, related, np.random.default_rng(seed))
        found = upper_limb.identify_right_arm(seen, rates="together", centre="score")
        deviation = found.inertia_deviation
        values = np.concatenate([[found.inertia[place] for place in PLACES], found.moment])
        return values - truth, np.concatenate([[deviation[place] for place in PLACES], found.deviation[:3, 6]])

    return draw


def disturbed(
    exact: tuple[MotionTrial, ...], size: float, related: float, rng: np.random.Generator
) -> tuple[MotionTrial, ...]:
    """Trials with errors of markers and plates."""
    seen = []
    for one in exact:
        points = one.markers.positions + marker_noise(one.markers.positions.shape, size, related, rng)
        plate = one.plates[0]
        force = plate.force + rng.normal(0, PLATE[0], plate.force.shape)
        about = plate.moment_about_origin + rng.normal(0, PLATE[1], plate.force.shape)
        plates = (replace(plate, force=force, moment_about_origin=about),)
        seen.append(replace(one, markers=replace(one.markers, positions=points), plates=plates))
    return tuple(seen)


def segments(size: float, related: float) -> Draw:
    """Errors and deviations of J of an arm and the rest of the body, their rates by Kalman smoothing before the fit."""
    exact = upper_limb.recordings()
    inertia, moment = upper_limb.limb().inertia
    K = np.trace(inertia) / 2 * np.eye(3) - inertia  # second moments: inertia = tr(K) 1 - K
    truth = np.concatenate([[K[place] for place in PLACES], moment])

    def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
        seen = disturbed(exact, size, related, np.random.default_rng(seed))
        found = upper_limb.identify_right_arm(seen, rates="kalman", centre="score").estimate
        values, deviations = (
            np.concatenate([[table[place] for place in PLACES], table[:3, 6]]) for table in (found.J, found.deviation)
        )
        return values - truth, deviations

    return draw


def person(size: float, related: float) -> Draw:
    """Errors and deviations of angles (rad) and moments (N m) of one leg, in some frames of a walk on exact plates."""
    model = human36(1.78, 74.0, "de_leva_male")
    motion = walking(model, 1.6)
    body, exact = BodyInMotion(model, motion), simulated_trial(model, motion, noise=0.0)
    up = np.array([0.0, 1.0, 0.0])
    truth = trial_dynamics(model, motion, share_between_feet(ground_reaction(body), human_footing(body), up))

    def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
        noise = marker_noise(exact.markers.positions.shape, size, related, np.random.default_rng(seed))
        markers = replace(exact.markers, positions=exact.markers.positions + noise)
        found = analyse_person(replace(exact, markers=markers), height=1.78, mass=74.0, mechanism=model)
        spread, time = found.random_errors, found.motion.time
        chosen = [int(np.argmin(np.abs(time - t))) for t in np.linspace(0.2, 1.4, 7)]
        at = [int(np.argmin(np.abs(motion.time - time[k]))) for k in chosen]
        errors, deviations = [], []
        for name in FOLLOWED:
            errors += [found.motion.of(name)[chosen] - motion.of(name)[at]]
            errors += [found.dynamics.moment(name)[chosen] - truth.moment(name)[at]]
            deviations += [spread.coordinate(name)[chosen], spread.moment(name)[chosen]]
        return np.concatenate(errors), np.concatenate(deviations)

    return draw


def centre(size: float, related: float) -> Draw:
    """Errors and deviations of a shoulder's centre by SCoRE."""
    exact = shoulder.recording("FE/AbAd")

    def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
        noise = marker_noise(exact.positions.shape, size, related, np.random.default_rng(seed))
        found = score(*shoulder.segments(replace(exact, positions=exact.positions + noise)))
        return found.proximal - shoulder.CENTRE, found.deviation

    return draw


def robot(related: float) -> Draw:
    """Errors and deviations of the base parameters of an arm with seven axes, from angles and torques alone."""
    mechanism = arm(SEVEN_R)
    model = linear_model(mechanism)
    t, q, v, a = sines(7, 2000)
    exact = forces(mechanism, q, v, a)
    names = [f"q{k + 1}" for k in range(7)]

    def fit(angles: np.ndarray, torques: np.ndarray):
        measured = {name: torques[:, k] for k, name in enumerate(names)}
        return identify(model, [make_trial(model, t, {name: angles[:, k] for k, name in enumerate(names)}, measured)])

    rates = channels(q, v, a)
    truth = identify(model, [make_trial(model, t, rates, {name: exact[:, k] for k, name in enumerate(names)})]).values

    def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        coloured = rng.normal(size=exact.shape)
        for k in range(1, len(coloured)):
            coloured[k] = related * coloured[k - 1] + np.sqrt(1 - related**2) * coloured[k]
        found = fit(q + rng.normal(0, ENCODER, q.shape), exact + TORQUE * exact.std(axis=0) * coloured)
        return found.values - truth, np.sqrt(np.diag(found.covariance))

    return draw


STUDIES: dict[str, dict[str, Callable[[], Draw]]] = {
    "limb": {
        "limb, ±1 mm": lambda: limb(0.001, 0.0),
        "limb, ±3 mm": lambda: limb(0.003, 0.0),
        "limb, ±3 mm, related by 0.9": lambda: limb(0.003, RELATED),
    },
    "segments": {
        "segments, ±1 mm": lambda: segments(0.001, 0.0),
        "segments, ±3 mm": lambda: segments(0.003, 0.0),
        "segments, ±3 mm, related by 0.9": lambda: segments(0.003, RELATED),
    },
    "person": {
        "person, ±1 mm": lambda: person(0.001, 0.0),
        "person, ±3 mm": lambda: person(0.003, 0.0),
        "person, ±3 mm, related by 0.9": lambda: person(0.003, RELATED),
    },
    "score": {
        "SCoRE, ±1 mm": lambda: centre(0.001, 0.0),
        "SCoRE, ±3 mm": lambda: centre(0.003, 0.0),
        "SCoRE, ±3 mm, related by 0.9": lambda: centre(0.003, RELATED),
    },
    "robot": {
        "robot, encoders 1e-3 rad, white torques": lambda: robot(0.0),
        "robot, encoders 1e-3 rad, torques related by 0.9": lambda: robot(RELATED),
    },
}


def coverage(study: Draw, draws: int, jobs: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """After every draw: errors and deviations so far."""
    global _drawn
    _drawn = study
    found = []
    with multiprocessing.get_context("fork").Pool(jobs) as pool:  # forked: a study is recorded once, and closes over it
        for one in pool.imap_unordered(_draw, range(draws)):
            found.append(one)
            errors, deviations = zip(*found, strict=True)
            yield len(found), np.array(errors), np.array(deviations)


def _draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
    return _drawn(seed)


def row(name: str, count: int, errors: np.ndarray, deviations: np.ndarray) -> str:
    held = np.abs(errors) < 1.96 * deviations
    bias = np.abs(errors.mean(axis=0)) / np.maximum(errors.std(axis=0), 1e-300)
    return (
        f"| {name} | {count} | {100 * held.mean():.1f} | {100 * held.mean(axis=0).min():.0f} to "
        f"{100 * held.mean(axis=0).max():.0f} | {np.median(bias):.2f} |"
    )


def main() -> None:
    chosen, draws, jobs = [*sys.argv[1:], "", "", ""][:3]
    print("| study | draws | held (%) | single values (%) | bias over scatter, median |")
    print("| --- | ---: | ---: | --- | ---: |")
    for kind in [chosen] if chosen else list(STUDIES):
        for name, study in STUDIES[kind].items():
            last = ""
            for count, errors, deviations in coverage(study(), int(draws or 500), int(jobs or 1)):
                last = row(name, count, errors, deviations)
                if count % 20 == 0:
                    print(last, file=sys.stderr, flush=True)
            print(last, flush=True)


if __name__ == "__main__":
    main()
