"""How a laboratory works: its markers, the part of the body it follows, what it holds, where it puts the hips."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from torseur.analysis.biomechanics.person.anatomical_frames import HIP_METHODS
from torseur.analysis.biomechanics.person_model.marker_sets import (
    BODIES,
    OWN,
    WIDTHS,
    MarkerSet,
    body_coordinates,
    fitting_sets,
    marker_set,
)
from torseur.analysis.biomechanics.recordings.markers import Markers
from torseur.errors import RecordingError, unknown_name

_NAMELESS = re.compile(r"\*\d+|unlabelled \d+")
_BETTER = 0.05  # of likeness, by which another set must fit better than Human36's own to be offered


@dataclass(frozen=True, eq=False)
class Protocol:
    """The set of markers (a name, a file, a `MarkerSet`; Human36's own unless given), what they follow, and the hips.

    `body` is that of the set unless it is given; `hold` gives coordinates (rad, m) that stay where they are. `hip` is a
    regression (harrington, bell, hara, davis), "score" with a recording of moving legs as `functional`, or "model".
    """

    markers: str | Path | MarkerSet = ""
    body: str = ""
    hold: Mapping[str, float] = field(default_factory=dict)
    hip: str = ""
    functional: Markers | None = None

    def __post_init__(self) -> None:
        if self.hip and self.hip not in HIP_METHODS:
            raise RecordingError(unknown_name("method for the hips", self.hip, HIP_METHODS))

    @property
    def marker_set(self) -> MarkerSet:
        return self.markers if isinstance(self.markers, MarkerSet) else marker_set(self.markers or OWN)

    @property
    def followed(self) -> str:
        return self.body or self.marker_set.body

    @property
    def partial(self) -> bool:
        return self.followed != "full"

    @property
    def feet(self) -> tuple[str, ...]:
        """The feet that the markers follow, by their segments."""
        starts = BODIES.get(self.followed, ())
        return tuple(f"{side}_foot" for side in "rl" if f"{side}_ankle_" in starts)

    def followed_markers(self, markers: Markers) -> Markers:
        """The markers on the part of the body that is followed; others would drag what is held along with them."""
        markers = self._recorded(markers)
        if not self.partial:
            return markers
        starts, chosen = BODIES.get(self.followed, ()), self.marker_set
        kept = [label for label in markers.labels
                if label in chosen.labels and followed_segment(chosen.segment(label), starts)]  # fmt: skip
        left = [label for label in markers.labels if label in chosen.labels and label not in kept]
        if not left or not kept:
            return markers
        note = f"markers on parts of the body that are held, not used: {', '.join(left)}"
        return replace(markers.only(kept), notes=(*markers.notes, note))

    def _recorded(self, markers: Markers) -> Markers:
        """The markers without points that software computed, by the set, and without nameless ones ("*12")."""
        ignored = self.marker_set.ignored
        kept = [label for label in markers.labels if label not in ignored and not _NAMELESS.fullmatch(label)]
        if len(kept) in (0, len(markers.labels)):
            return markers
        left = len(markers.labels) - len(kept)
        note = (
            f"{left} points are not used: they have no name, or '{self.marker_set.name}' says that software made them"
        )
        return replace(markers.only(kept), notes=(*markers.notes, note))

    @property
    def hips(self) -> str:
        """The markers of Human36 stand where the model has them, and so do its hips; people's own need a regression."""
        return self.hip or ("model" if self.marker_set.name == OWN else "harrington")

    def with_widths(self, subject: Mapping[str, float]) -> tuple[Protocol, list[str]]:
        """The same with breadths of joints that the file states and nobody gave, and a word on it."""
        chosen = self.marker_set
        stated = {
            joint: subject[f"{joint} width"] for joint in WIDTHS
            if f"{joint} width" in subject and joint not in chosen.widths
        }  # fmt: skip
        if not stated:
            return self, []
        listing = ", ".join(f"{joint} {1e3 * width:.0f} mm" for joint, width in stated.items())
        widened = replace(chosen, widths={**chosen.widths, **stated})
        return replace(self, markers=widened), [f"breadths of joints as the file states them: {listing}"]

    def held(self, coordinates: Sequence[str]) -> dict[str, float]:
        """Coordinates that stay where they are, and where."""
        for name in self.hold:
            if name not in coordinates:
                raise RecordingError(unknown_name("coordinate", name, coordinates, "held: "))
        return {**dict.fromkeys(body_coordinates(self.followed, coordinates), 0.0), **self.hold}


def followed_segment(segment: str, starts: Sequence[str]) -> bool:
    """Whether a segment moves with the coordinates that begin so: the trunk with arms, the pelvis with legs."""
    side, _, part = segment.partition("_")
    if segment == "pelvis":
        return any("hip_" in start for start in starts)
    if segment == "trunk":
        return any("shoulder_" in start or "lumbar_" in start for start in starts)
    if segment == "head":
        return "neck_" in starts
    return f"{side}_{'hip_' if part in ('thigh', 'shank', 'foot') else 'shoulder_'}" in starts


def require_set(labels: Sequence[str], protocol: Protocol) -> None:
    """Refuses labels that are not those of the set: another one that fits them is offered, and never taken unasked."""
    chosen = protocol.marker_set
    ranked = fitting_sets(labels)
    best, guess = ranked[0]
    offer = (
        f" The labels look like '{guess.name}' ({guess.title}): --marker-set {guess.name} on the command line, "
        f"Protocol('{guess.name}') in Python."
        if guess.name != chosen.name and best > 0.3 else ""
    )  # fmt: skip
    if not set(labels) & set(chosen.labels):
        raise RecordingError(
            f"none of the labels {_listing(labels)} is one of the set '{chosen.name}'.{offer} A set of your own is a "
            "TOML file (docs/markers.md)."
        )
    if not protocol.markers and offer and best > chosen.likeness(labels) + _BETTER:
        raise RecordingError(
            f"the labels {_listing(labels)} are not the markers of {OWN}, which a recording is taken to have unless a "
            f"set is named.{offer} With --marker-set {OWN} they are taken as they are."
        )


def _listing(labels: Sequence[str]) -> str:
    return ", ".join(labels[:8]) + (", ..." if len(labels) > 8 else "")
