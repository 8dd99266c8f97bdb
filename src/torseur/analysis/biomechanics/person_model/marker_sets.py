"""Sets of markers: which label of a laboratory stands on what, ready ones and those of a file (TOML)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from torseur.analysis.biomechanics.person_model.human36 import SEGMENT_NAMES, human36, marker_places
from torseur.analysis.biomechanics.person_model.landmarks import landmark_names, landmark_segment
from torseur.errors import RecordingError, unknown_name

OWN = "human36"
_FOLDER = "marker_set_files"
# Markers of Human36 that stand anywhere on a limb.
_TECHNICAL = ("UPA", "UPB", "FRA", "FRB", "THI", "THB", "TIB", "TBB", "HNA", "HNB")
_TABLES = ("landmarks", "technical", "wands", "virtual", "scapula", "optional", "widths")
_KEYS = ("title", "body", "extends", *_TABLES)
# Coordinates that follow the markers, by the start of their names; the others are held.
_LEG, _ARM = ("hip_", "knee_", "ankle_"), ("shoulder_", "elbow_", "wrist_")
_SPINE = ("lumbar_", "thoracic_")
_ALL = ("pelvis_", *_SPINE, "neck_", *(f"{side}_{part}" for side in "rl" for part in (*_LEG, *_ARM)))
BODIES: dict[str, tuple[str, ...]] = {
    "full": _ALL,
    "lower": ("pelvis_", *(f"{side}_{part}" for side in "rl" for part in _LEG)),
    "lower_and_trunk": ("pelvis_", *_SPINE, *(f"{side}_{part}" for side in "rl" for part in _LEG)),
    "arms": ("pelvis_", *(f"{side}_{part}" for side in "rl" for part in _ARM)),
    "right_leg": ("pelvis_", *(f"r_{part}" for part in _LEG)),
    "left_leg": ("pelvis_", *(f"l_{part}" for part in _LEG)),
    "right_arm": ("pelvis_", *(f"r_{part}" for part in _ARM)),
    "left_arm": ("pelvis_", *(f"l_{part}" for part in _ARM)),
}


@dataclass(frozen=True)
class MarkerSet:
    """What the labels of a laboratory stand on.

    `landmarks` gives the landmark under a label, `technical` the segment of a marker whose place the recording gives;
    `wands` are technical markers in the plane of their segment's joint centres and its lateral landmark. Points of
    `ignored` steer nothing. `widths` (m) are the person's own breadths of joints: knee, ankle, elbow.
    """

    name: str
    title: str
    landmarks: Mapping[str, str]
    technical: Mapping[str, str] = field(default_factory=dict)
    wands: Mapping[str, str] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    widths: Mapping[str, float] = field(default_factory=dict)
    body: str = "full"

    @property
    def labels(self) -> tuple[str, ...]:
        """Every label that stands on a segment."""
        return tuple(dict.fromkeys((*self.landmarks, *self.technical)))

    def segment(self, label: str) -> str:
        return landmark_segment(self.landmarks[label]) if label in self.landmarks else self.technical[label]

    def label_of(self, landmark: str, seen: Sequence[str]) -> str | None:
        """The label seen over a landmark; None where there is none."""
        return next((label for label, name in self.landmarks.items() if name == landmark and label in seen), None)

    def groups(self, seen: Sequence[str]) -> dict[str, list[str]]:
        """Labels seen on each segment."""
        groups: dict[str, list[str]] = {}
        for label in self.labels:
            if label in seen:
                groups.setdefault(self.segment(label), []).append(label)
        return groups

    def likeness(self, seen: Sequence[str]) -> float:
        """How well labels fit this set, 0 to 1: the harmonic mean of its share of them and their share of it."""
        marked = [label for label in seen if label not in self.ignored]
        known = set(self.labels)
        both = len(known.intersection(marked))
        wanted = len(known - self.optional) + len(self.optional.intersection(marked))
        return 2 * both / (len(marked) + wanted) if marked else 0.0


def marker_set(source: str | Path) -> MarkerSet:
    """A ready set by its name, or that of a file (.toml)."""
    if str(source).endswith(".toml"):
        path = Path(source)
        if not path.is_file():
            raise RecordingError(f"there is no file '{path}' with a set of markers.")
        return _read_set(path.stem, path.read_text(encoding="utf-8"), f"'{path}'")
    if source not in marker_set_names():
        raise RecordingError(unknown_name("set of markers", str(source), marker_set_names()))
    return _ready(str(source))


def marker_set_names() -> tuple[str, ...]:
    """The sets that are ready."""
    return (OWN, *sorted(file.name[:-5] for file in _folder().iterdir() if file.name.endswith(".toml")))


def fitting_sets(seen: Sequence[str]) -> list[tuple[float, MarkerSet]]:
    """The ready sets by how well they fit these labels, the best one first."""
    scored = [(one.likeness(seen), one) for one in map(_ready, marker_set_names())]
    return sorted(scored, key=lambda pair: -pair[0])


def body_coordinates(body: str, names: Sequence[str]) -> tuple[str, ...]:
    """Coordinates of a model that a partial body holds."""
    if body not in BODIES:
        raise RecordingError(unknown_name("part of the body", body, BODIES))
    return tuple(name for name in names if not name.startswith(BODIES[body]))


def _folder() -> Any:
    return files("torseur.analysis.biomechanics.person_model").joinpath(_FOLDER)


@cache
def _ready(name: str) -> MarkerSet:
    if name == OWN:
        return _own()
    text = _folder().joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return _read_set(name, text, f"set '{name}'")


def _own() -> MarkerSet:
    """The set of Human36, whose markers are named frames of the model."""
    landmarks, technical = {}, {}
    for label, segment in marker_places(human36()).items():
        if label[1:] in _TECHNICAL:
            technical[label] = segment
        else:
            landmarks[label] = _OWN_LANDMARKS.get(label) or f"{label[0].lower()}_{_OWN_LANDMARKS[label[1:]]}"
    return MarkerSet(OWN, "Human36's own markers", landmarks, technical)


_OWN_LANDMARKS = {
    "C7": "c7", "T10": "t10", "CLAV": "jugular_notch", "STRN": "xiphoid_process", "FHD": "front_of_the_head",
    "BHD": "back_of_the_head", "SHO": "acromion", "ASI": "asis", "PSI": "psis",
    "ELB": "lateral_epicondyle_of_the_humerus", "ELM": "medial_epicondyle_of_the_humerus", "WRA": "radial_styloid",
    "WRB": "ulnar_styloid", "FIN": "third_metacarpal", "KNE": "lateral_epicondyle_of_the_femur",
    "KNM": "medial_epicondyle_of_the_femur", "ANK": "lateral_malleolus", "ANM": "medial_malleolus", "HEE": "heel",
    "TOE": "second_metatarsal", "MT5": "fifth_metatarsal", "MT1": "first_metatarsal",
}  # fmt: skip


def _read_set(name: str, text: str, where: str) -> MarkerSet:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise RecordingError(f"{where} is not valid TOML: {problem}.") from problem
    for key in content:
        if key not in _KEYS:
            raise RecordingError(unknown_name("entry", key, _KEYS, f"{where}: "))
    base = marker_set(content["extends"]) if "extends" in content else None
    table = {key: _expand(content.get(key, {}), f"{where}, [{key}]") for key in ("landmarks", "technical", "wands")}
    lists = {key: _labels(content.get(key, {})) for key in ("virtual", "optional")}
    body = content.get("body", base.body if base else "full")
    _check(table, body, where)
    ignored = lists["virtual"] | set(_expand(content.get("scapula", {}), where))
    made = MarkerSet(
        name, str(content.get("title", name)), table["landmarks"], table["technical"], table["wands"],
        frozenset(ignored), frozenset(lists["optional"]), _widths(content.get("widths", {}), where), body,
    )  # fmt: skip
    return _join(base, made) if base else made


def _join(base: MarkerSet, more: MarkerSet) -> MarkerSet:
    """A set with the labels of another one beside its own."""
    return MarkerSet(
        more.name, more.title, {**base.landmarks, **more.landmarks}, {**base.technical, **more.technical},
        {**base.wands, **more.wands}, base.ignored | more.ignored, base.optional | more.optional,
        {**base.widths, **more.widths}, more.body,
    )  # fmt: skip


def _expand(rows: Mapping[str, Any], where: str) -> dict[str, str]:
    """Rows for both sides: {S} and {s} stand for R and r, then for L and l."""
    expanded = {}
    for label, what in rows.items():
        if not isinstance(what, str):
            raise RecordingError(f"{where}: '{label}' stands on {what!r}, expected the name of a landmark or segment.")
        for key, side in _sides(label):
            expanded[key] = what.replace("{s}", side.lower())
    return expanded


def _labels(table: Mapping[str, Any]) -> set[str]:
    return {key for label in table.get("labels", ()) for key, _ in _sides(str(label))}


def _sides(label: str) -> Iterator[tuple[str, str]]:
    both = "RL" if "{S}" in label or "{s}" in label else " "
    return ((label.replace("{S}", side).replace("{s}", side.lower()), side) for side in both)


def _widths(table: Mapping[str, Any], where: str) -> dict[str, float]:
    from torseur.description.mechanism import in_si

    widths = {}
    for joint, value in table.items():
        if joint not in WIDTHS:
            raise RecordingError(unknown_name("joint", joint, WIDTHS, f"{where}, [widths]: "))
        number, _, unit = str(value).partition(" ")
        widths[joint] = float(in_si(float(number), unit or "m"))
    return widths


WIDTHS = ("knee", "ankle", "elbow")


def _check(table: Mapping[str, Mapping[str, str]], body: str, where: str) -> None:
    """Names that do not exist are refused with the nearest ones."""
    for known, kind, names in (
        (landmark_names(), "landmark", table["landmarks"].values()),
        (SEGMENT_NAMES, "segment", [*table["technical"].values(), *table["wands"].values()]),
        (tuple(BODIES), "part of the body", [body]),
    ):
        for name in names:
            if name not in known:
                raise RecordingError(unknown_name(kind, name, known, f"{where}: "))
    twice = set(table["landmarks"]) & set(table["technical"])
    if twice:
        raise RecordingError(f"{where}: label '{min(twice)}' is both a landmark and a technical marker.")
