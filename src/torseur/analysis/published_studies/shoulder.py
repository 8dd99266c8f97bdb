"""Locating a shoulder by SCoRE and by the mean helical axis: Monnet (2007), chapter 6, on simulated motion with noise.

A scapula that sways carries three markers on the acromion, the arm four. Cycles of flexion, abduction and
circumduction are put together to the source's three tests, ten trials each, and the precision of a method is how far
the centres of the ten trials scatter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.spatial.rotation_arrays import exponential
from torseur.analysis.biomechanics import Z_UP, Markers
from torseur.analysis.biomechanics.motion.joint_centres import JointCentre, mean_helical_axis, precision, score
from torseur.analysis.biomechanics.motion.segment_motion import SegmentMotion, segment_motion
from torseur.analysis.identification.data.differentiation import Derivatives

RATE = 100.0  # Hz
CYCLES = {"medium": 4.0, "slow": 8.0}  # s
TESTS = {"Cir": ("Cir",), "FE/AbAd": ("FE", "AbAd"), "FE/AbAd/Cir": ("FE", "AbAd", "Cir")}
METHODS = ("AH", "SCoRE", "SCoRE2")
NOISE = 0.003  # m, at most, as in the source's chapter 5
TRIALS = 10

# Places in m. Scapula: x towards the acromion's angle, y up, z backwards; arm: x forward, y along it upwards.
CENTRE = np.array([-0.009, -0.014, -0.038])
SCAPULA = {"AC1": (0.0, 0.03, 0.01), "AC2": (0.03, 0.045, -0.01), "AC3": (-0.02, 0.04, -0.035)}
ARM = {
    "A1": (-0.05, -0.10, 0.02), "A2": (-0.045, -0.20, -0.02), "A3": (0.0, -0.13, 0.05), "A4": (0.05, -0.17, 0.0),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Located:
    """Precision and error of the centre in m for every method and test: precision[method][test]."""

    precision: dict[str, dict[str, float]]
    error: dict[str, dict[str, float]]

    def __str__(self) -> str:
        head = "precision (mm)  " + "".join(f"{test:>14s}" for test in TESTS)
        rows = [f"{m:<16s}" + "".join(f"{1e3 * self.precision[m][test]:14.2f}" for test in TESTS) for m in METHODS]
        return "\n".join([head, *rows])


def cycle(kind: str, duration: float, amplitude: float = 1.2) -> tuple[Array, Array, Array]:
    """Time, rotation of the scapula and of the arm seen from it, over one cycle.

    FE flexion and extension, AbAd abduction and adduction, Cir circumduction; `amplitude` is the elevation in rad,
    below the height of the shoulder.
    """
    time = np.arange(round(duration * RATE)) / RATE
    phase = 2 * np.pi * time / duration
    rise = amplitude * np.sin(phase / 2) ** 2
    turn = {
        "FE": np.stack([0.1 * rise, 0.15 * np.sin(phase), rise], axis=1),
        "AbAd": np.stack([-rise, 0.15 * np.sin(phase), 0.1 * rise], axis=1),
        "Cir": np.stack([-0.5 * amplitude * np.sin(phase) - 0.2, 0.1 * np.sin(phase),
                         0.5 * amplitude * np.cos(phase) + 0.2], axis=1),
    }[kind]  # fmt: skip
    # The scapula moves too, or both segments would turn about one fixed point of the laboratory.
    sway = 0.08 * np.stack([np.sin(phase), np.sin(phase + 1), np.cos(phase)], axis=1)
    return time, exponential(sway), exponential(turn)


def recording(test: str, speed: str = "medium") -> Markers:
    """Exact markers of one trial: one cycle of each of the test's motions, one after the other."""
    parts = [cycle(kind, CYCLES[speed]) for kind in TESTS[test]]
    scapula, relative = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
    time = np.arange(len(scapula)) / RATE
    acromion = np.array([0.3, 0.2, 1.4]) + 0.02 * np.sin(2 * np.pi * time[:, None] / 4 + np.array([0.0, 1.0, 2.0]))
    arm = scapula @ relative
    joint = acromion + scapula @ CENTRE
    on_scapula = acromion[:, None] + np.einsum("tij,kj->tki", scapula, np.array(list(SCAPULA.values())))
    on_arm = joint[:, None] + np.einsum("tij,kj->tki", arm, np.array(list(ARM.values())))
    return Markers(time, (*SCAPULA, *ARM), np.concatenate([on_scapula, on_arm], axis=1), Z_UP, f"[{test}] {speed}")


def segments(markers: Markers) -> tuple[SegmentMotion, SegmentMotion]:
    """Scapula and arm from their markers."""
    return (
        segment_motion(markers, list(SCAPULA), SCAPULA, name="scapula"),
        segment_motion(markers, list(ARM), ARM, name="arm"),
    )


def centres(markers: Markers, derivatives: Derivatives | None = None) -> dict[str, JointCentre]:
    """The shoulder by the three methods; SCoRE2 counts the frames of the helical axes only.

    Derivatives are central differences unless given: the source smooths nothing here.
    """
    scapula, arm = segments(markers)
    helical = mean_helical_axis(scapula, arm, derivatives=derivatives or Derivatives("central"))
    return {"AH": helical, "SCoRE": score(scapula, arm), "SCoRE2": score(scapula, arm, helical.used)}


def locate(
    speed: str = "medium",
    amplitude: float = NOISE,
    trials: int = TRIALS,
    seed: int = 0,
    derivatives: Derivatives | None = None,
) -> Located:
    """Trials of each test with noise of at most ±amplitude (m), and how far the centres scatter."""
    rng = np.random.default_rng(seed)
    centres_by_method: dict[str, dict[str, list[JointCentre]]] = {method: {} for method in METHODS}
    for test in TESTS:
        exact = recording(test, speed)
        many = [centres(exact.with_noise(amplitude, rng), derivatives) for _ in range(trials)]
        for method in METHODS:
            centres_by_method[method][test] = [trial[method] for trial in many]
    spread = {m: {test: precision(many) for test, many in tests.items()} for m, tests in centres_by_method.items()}
    error = {m: {test: _mean_error(many) for test, many in tests.items()} for m, tests in centres_by_method.items()}
    return Located(spread, error)


def _mean_error(many: list[JointCentre]) -> float:
    return float(np.mean([np.linalg.norm(centre.proximal - CENTRE) for centre in many]))
