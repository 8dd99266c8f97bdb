"""Our angles and moments as results of a C3D file, and beside those that the laboratory's own software wrote there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.person.person_analysis import PersonTrial

# The three components of results of Plug-in-Gait as our coordinates. Its moments are those of extensors and plantar
# flexors; ours drive the angle up.
_SUFFIX = 4  # letters
_ANGLES = {"Hip": ("hip_flexion", "hip_adduction", "hip_rotation"), "Knee": ("knee_flexion", "", ""),
           "Ankle": ("ankle_flexion", "ankle_inversion", "")}  # fmt: skip


@dataclass(frozen=True)
class Agreement:
    """How a curve of ours lies beside that of the file: correlation, and what is left after their mean difference."""

    result: str
    coordinate: str
    correlation: float
    rms: float
    offset: float
    unit: str


def own_results(person: PersonTrial) -> dict[str, Array]:
    """Angles (deg) and moments (N m/kg) of the legs by the labels of Plug-in-Gait, (frames, 3)."""
    results = {}
    for side in "rl":
        for joint, names in _ANGLES.items():
            full = [f"{side}_{name}" if name else "" for name in names]
            if full[0] in person.free:
                angles = [np.degrees(person.motion.of(name)) if name else 0 * person.motion.time for name in full]
                # Plug-in-Gait's moments are internal, of extensors positive.
                moments = [-person.moment(name) / person.mass if name else 0 * person.motion.time for name in full]
                results[f"{side.upper()}{joint}Angles"] = np.stack(angles, axis=1)
                results[f"{side.upper()}{joint}Moment"] = np.stack(moments, axis=1)
    return results


def agreements(person: PersonTrial, results: Mapping[str, Array]) -> list[Agreement]:
    """Flexions of hips, knees and ankles, their moments, and adductions, beside the file's own."""
    comparisons = []
    for label, ours in own_results(person).items():
        theirs = _of_label(results, label)
        if theirs is None:
            continue
        joint = label[1:].removesuffix("Angles").removesuffix("Moment")
        # The foot of Plug-in-Gait is a line: it has no inversion of its own.
        names = _ANGLES[joint][:1] if joint == "Ankle" else _ANGLES[joint]
        for k, name in enumerate(names[: 2 if label.endswith("Angles") else 1]):
            if name and (one := _beside(label, f"{label[0].lower()}_{name}", ours[:, k], theirs[:, k])):
                comparisons.append(one)
    return comparisons


def _of_label(results: Mapping[str, Array], label: str) -> Array | None:
    """The file's result of this label, to which software may add a letter or two ("RKneeAnglesV")."""
    longer = [name for name in results if name.startswith(label) and len(name) <= len(label) + _SUFFIX]
    return results[label] if label in results else results[longer[0]] if len(longer) == 1 else None


def _beside(label: str, name: str, ours: Array, theirs: Array) -> Agreement | None:
    known = np.isfinite(theirs) & (theirs != 0) & np.isfinite(ours)
    if known.sum() < 10 or np.ptp(theirs[known]) == 0:
        return None
    a, b = ours[known], theirs[known]
    unit = "deg" if label.endswith("Angles") else "N m/kg"
    if unit != "deg" and np.ptp(b) > 100 * np.ptp(a):
        b = b / 1000  # the file's moments are in N mm/kg
    gap = a - b
    return Agreement(
        label, name, float(np.corrcoef(a, b)[0, 1]), float(np.sqrt(np.mean(gap**2))), float(gap.mean()), unit
    )
