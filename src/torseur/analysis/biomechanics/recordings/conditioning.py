"""What the data of a recording say beside its header: the subject's name before labels, and which way is up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.biomechanics.recordings.force_plates import PlateRecord
from torseur.analysis.biomechanics.recordings.laboratory_axes import Axes
from torseur.analysis.biomechanics.recordings.markers import Markers
from torseur.analysis.biomechanics.recordings.motion_trial import MotionTrial
from torseur.errors import RecordingError, unknown_name

# Markers that are above the feet of everybody who stands, sits or walks, by the names that marker sets share.
HIGH = ("LFHD", "RFHD", "LBHD", "RBHD", "C7", "CLAV", "LSHO", "RSHO", "LASI", "RASI", "LPSI", "RPSI", "SACR",
        "LASIS", "RASIS", "LPSIS", "RPSIS", "LIAS", "RIAS", "LIPS", "RIPS")  # fmt: skip
LOW = ("LANK", "RANK", "LHEE", "RHEE", "LTOE", "RTOE", "LANM", "RANM", "LCAL", "RCAL", "LMT5", "RMT5")
_LOADED, _FEW = 50.0, 5  # N, and samples, from which the sense of a plate's force means something
_LEVEL, _MOST = 0.05, 0.99  # m by which plates are level, and the part of all markers that is on one side of them
_APART, _ALONG = 0.3, 0.9  # m between high and low markers, and the part of it along one axis


def condition_trial(trial: MotionTrial, axes: Axes | None = None) -> MotionTrial:
    """The trial with plain labels, its vertical axis, and plates that push up, each change noted; given `axes` stay."""
    plain = replace(trial, markers=strip_subject(trial.markers))
    upright = plain if axes is not None else find_up(plain)
    return replace(upright, plates=tuple(_pushing_up(plate) for plate in upright.plates))


def _pushing_up(plate: PlateRecord) -> PlateRecord:
    """What a plate exerts on the person: turned round where it would pull everybody down, as some files have it."""
    if not {"up", "down"} & set(plate.axes.words):
        return plate
    lift = plate.force @ plate.axes.upward
    loaded = lift[np.abs(lift) > _LOADED]
    if len(loaded) < _FEW or float(np.median(loaded)) > 0:
        return plate
    return plate.opposite().with_note(
        f"the file holds what the person exerts: it pulls down in {100 * np.mean(loaded < 0):.0f} % of loaded samples"
    )


def one_subject(trial: MotionTrial, name: str) -> MotionTrial:
    """The trial with the markers of one person, whose name stands before their labels."""
    people = sorted({label.partition(":")[0] for label in trial.markers.labels if ":" in label})
    if name not in people:
        raise RecordingError(unknown_name("subject", name, people, f"'{trial.name}': "))
    own = [label for label in trial.markers.labels if label.startswith(f"{name}:")]
    return replace(trial, markers=trial.markers.only(own))


def strip_subject(markers: Markers) -> Markers:
    """Labels without the name of the subject that some systems write before them ("Anna:LASI")."""
    prefixes = list(dict.fromkeys(label.partition(":")[0] for label in markers.labels if ":" in label))
    if not prefixes:
        return markers
    if len(prefixes) > 1:
        note = f"labels of several subjects ({', '.join(prefixes)}) are kept as they are: --subject chooses one"
        return replace(markers, notes=(*markers.notes, note))
    labels = tuple(label.partition(":")[2] or label if ":" in label else label for label in markers.labels)
    if len(set(labels)) < len(labels):
        note = f"labels keep the prefix '{prefixes[0]}:', since some exist without it too"
        return replace(markers, notes=(*markers.notes, note))
    return replace(markers, labels=labels, notes=(*markers.notes, f"the prefix '{prefixes[0]}:' of labels is left out"))


def find_up(trial: MotionTrial) -> MotionTrial:
    """The trial with the vertical axis that its markers show, where the file does not state it or has it upside down.

    A person who lies shows another axis than the file states: then the file is believed, and the contradiction noted.
    """
    markers = trial.markers
    way, who = _from_feet_to_head(markers), "head, shoulders or pelvis are"
    if way is None:
        way, who = _from_plates_to_markers(trial), "all markers are"
    if way is None:
        return trial
    k = int(np.argmax(np.abs(way)))
    word, seen = ("up" if way[k] > 0 else "down"), "xyz"[k]
    stated = {axis: w for axis, w in zip("xyz", markers.axes.words, strict=True) if w in ("up", "down")}
    if stated == {seen: word}:
        return trial
    than = "the feet" if who.startswith("head") else "the plates"
    reason = f"{who} {np.abs(way[k]):.2f} m {'above' if way[k] > 0 else 'below'} {than} in {seen}"
    if (stated and seen not in stated) or all(markers.axes.words):
        note = f"{reason}, but the file says {markers.axes}, which is believed: a person who lies? --up says otherwise"
        return replace(trial, markers=replace(markers, notes=(*markers.notes, note)))
    but = f", although the file says {markers.axes}" if stated else ""
    axes = replace(markers.axes, **{seen: word})
    noted = replace(markers, axes=axes, notes=(*markers.notes, f"{seen} points {word}: {reason}{but}"))
    return replace(trial, markers=noted, plates=tuple(replace(plate, axes=axes) for plate in trial.plates))


def _from_plates_to_markers(trial: MotionTrial) -> Array | None:
    """From level plates to the middle of the markers (m), where these are on one side of them all."""
    points = trial.markers.positions[np.isfinite(trial.markers.positions).all(axis=2)]
    corners = [plate.corners for plate in trial.plates]
    if not corners or not len(points):
        return None
    flat = [int(np.argmin(np.ptp(one, axis=0))) for one in corners]
    k = flat[0]
    if any(other != k for other in flat) or any(np.ptp(one[:, k]) > _LEVEL for one in corners):
        return None
    heights = points[:, k] - float(np.mean([one[:, k].mean() for one in corners]))
    side = np.sign(np.median(heights))
    if float(np.mean(side * heights > -_LEVEL)) < _MOST or abs(float(np.median(heights))) < _APART:
        return None
    return np.asarray(float(np.median(heights)) * np.eye(3)[k])


def _from_feet_to_head(markers: Markers) -> Array | None:
    """The mean way from low to high markers in m; None where it is short, or along no axis."""
    chosen = [[label for label in group if label in markers.labels] for group in (HIGH, LOW)]
    if min(len(group) for group in chosen) < 2:
        return None
    points = [markers.of(group).reshape(-1, 3) for group in chosen]
    if any(not np.isfinite(part).any(axis=0).all() for part in points):
        return None
    high, low = (np.nanmean(part, axis=0) for part in points)
    way = np.asarray(high - low)
    size = float(np.linalg.norm(way))
    return way if size > _APART and float(np.max(np.abs(way))) > _ALONG * size else None
