"""A realistic recording: a walk over two force plates, in mm at 100 Hz with channels at 1000 Hz, gaps and all."""

from __future__ import annotations

import numpy as np

from torseur.analysis.biomechanics import Z_UP, Analog, Markers, MotionTrial
from torseur.analysis.biomechanics.files import PlateSetup, plate_channels

FRAMES, RATE, PER_FRAME = 120, 100.0, 10
LABELS = ("LASI", "RASI", "LPSI", "RPSI", "LKNE", "RKNE", "LANK", "RANK", "LTOE", "RTOE", "C7", "CLAV")
WEIGHT = 650.0  # N


def markers() -> Markers:
    """Twelve markers on a person of usual size who walks along x; some are lost for a while."""
    time = np.arange(FRAMES) / RATE
    rng = np.random.default_rng(3)
    heights = np.array([1, 1, 1, 1, 0.5, 0.5, 0.1, 0.1, 0.05, 0.05, 1.5, 1.4])
    places = np.column_stack([rng.uniform(-0.1, 0.1, 12), rng.uniform(-0.2, 0.2, 12), heights])
    swing = 0.3 * np.sin(2 * np.pi * time[:, None] + np.arange(12)) * (heights < 0.6)
    positions = places + np.stack([1.2 * time[:, None] + swing, 0 * swing, 0.05 * np.abs(swing)], axis=2)
    positions[30:38, 4] = np.nan
    positions[100:, 11] = np.nan
    return Markers(time, LABELS, positions, Z_UP, "walk")


def corners(x: float) -> np.ndarray:
    """A plate of 600 by 400 mm on the floor whose own z axis points down."""
    return np.array([[x + 0.6, 0.2, 0], [x + 0.6, -0.2, 0], [x, -0.2, 0], [x, 0.2, 0]])


def setups() -> list[PlateSetup]:
    return [PlateSetup("plate 1", 2, corners(0.0), np.array([0.0, 0.0, -0.04])),
            PlateSetup("plate 2", 2, corners(0.7), np.array([0.001, -0.002, -0.041]))]  # fmt: skip


def analog_time() -> np.ndarray:
    return np.arange(FRAMES * PER_FRAME) / (RATE * PER_FRAME)


def steps() -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """What the two plates exert: force, centre of pressure and free moment of two steps."""
    time = analog_time()
    found = []
    for begin, x in ((0.1, 0.15), (0.55, 0.85)):
        phase = np.clip((time - begin) / 0.6, 0, 1)
        load = WEIGHT * np.sin(np.pi * phase) * (1 + 0.3 * np.cos(4 * np.pi * phase))
        force = np.column_stack([-0.2 * WEIGHT * np.sin(2 * np.pi * phase), 0.05 * load, load])
        place = np.column_stack([x + 0.25 * phase, 0.03 * np.ones_like(phase), np.zeros_like(phase)])
        torque = np.column_stack([0 * phase, 0 * phase, 3 * np.sin(2 * np.pi * phase)])
        found.append((force, place, torque))
    return found


def trial() -> tuple[MotionTrial, list[PlateSetup], list[np.ndarray]]:
    """The recording with a muscle's channel, and what the plates' own channels hold."""
    muscle = np.random.default_rng(4).normal(size=(FRAMES * PER_FRAME, 1)) * 1e-4
    recording = MotionTrial(markers(), (), Analog(analog_time(), ("EMG1",), muscle, ("V",)))
    channels = [
        plate_channels(setup, force, np.cross(place, force) + torque)
        for setup, (force, place, torque) in zip(setups(), steps(), strict=True)
    ]
    return recording, setups(), channels
