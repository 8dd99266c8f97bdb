"""Study files: an identification described in TOML, from mechanism and data to method and options."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from torseur.errors import IdentificationError, unknown_name
from torseur.identification.arrays import Array
from torseur.identification.columns import LAWS, Extras
from torseur.identification.data_files import Table, read_table
from torseur.identification.differentiation import Derivatives
from torseur.identification.faults import Treatment
from torseur.identification.identify import METHODS, Options
from torseur.identification.linear_model import LinearModel, linear_model
from torseur.identification.output_error import Recording
from torseur.identification.priors import described_prior
from torseur.identification.pseudo_inertia import Limits
from torseur.identification.segments import SegmentTrial, trial_of_mechanism
from torseur.identification.trials import Trial, make_trial, recorded_motion
from torseur.mechanism import Frame, Mechanism, placement

_FAR = 20.0  # rad
OUTPUT_ERROR, SEGMENTS = "output_error", "segments"
EVERY_METHOD = (*METHODS, SEGMENTS, OUTPUT_ERROR)
TABLES = {
    "": ("mechanism", "method", "loads", "data", "treatment", "parameters", "payloads", "limits", "known", "prior",
         "values", "unknown", "initial", "options"),
    "data": ("trials", "validation", "instruments", "time", "channels", "forces", "wrench", "units", "payload"),
    "treatment": ("gaps", "saturation", "derivatives", "window", "order", "smoothing", "harmonics"),
    "parameters": (*LAWS, "threshold"),
    "prior": ("weight",),
    "options": ("confidence", "bootstrap", "cross", "seed", "rtol", "fit", "positive", "iterations"),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Study:
    """A study file: its tables, and the folder its files are named from."""

    path: Path
    tables: Mapping[str, Any]

    @property
    def mechanism(self) -> str:
        """The mechanism's file or library name; a relative file is one beside the study."""
        named = self.tables.get("mechanism")
        if not isinstance(named, str):
            raise IdentificationError(
                f"'{self.path}': which mechanism? Write mechanism = \"arm.lsd\" or a library name."
            )
        beside = self.path.parent / named
        return str(beside) if beside.is_file() else named

    @property
    def method(self) -> str:
        name = self.tables.get("method", "weighted")
        if name not in EVERY_METHOD:
            raise IdentificationError(unknown_name("method", str(name), EVERY_METHOD, f"'{self.path}': "))
        return str(name)

    def table(self, name: str) -> dict[str, Any]:
        found = self.tables.get(name, {})
        if not isinstance(found, dict):
            raise IdentificationError(f"'{self.path}': expected a table [{name}].")
        return found

    @property
    def data(self) -> dict[str, Any]:
        return self.table("data")

    def files(self, kind: str) -> list[Path]:
        """Data files of a kind: trials, validation or instruments."""
        names = self.data.get(kind, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise IdentificationError(f'\'{self.path}\': {kind} is a list of files, such as ["run1.csv", "run2.nc"].')
        if kind == "trials" and not names:
            raise IdentificationError(f"'{self.path}': no data. Write [data] with trials = [\"run1.csv\"].")
        return [self.path.parent / name for name in names]


def read_study(path: str | Path) -> Study:
    """A study from its file."""
    file = Path(path)
    if not file.is_file():
        raise IdentificationError(f"there is no file '{file}'.")
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise IdentificationError(f"'{file}' cannot be read as TOML: {problem}.") from problem
    for name, known in TABLES.items():
        inside = tables if not name else tables.get(name, {})
        for key in inside if isinstance(inside, dict) else ():
            if key not in known:
                where = f"'{file}': " if not name else f"'{file}', [{name}]: "
                raise IdentificationError(unknown_name("entry", key, known, where))
    return Study(file, tables)


def study_model(study: Study, mechanism: Mechanism) -> LinearModel:
    """The linear model a study asks for."""
    values = {name: _number(study, "values", name, x) for name, x in study.table("values").items()}
    loads = str(study.tables.get("loads", "known"))
    return linear_model(mechanism, _extras(study, mechanism), values, loads=loads)


def _extras(study: Study, mechanism: Mechanism) -> Extras:
    asked = study.table("parameters")
    every = [c.name for joint in mechanism.joints for c in joint.coordinates]
    lists: dict[str, Any] = {}
    for kind in LAWS:
        names = asked.get(kind, [])
        if names != "all" and not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
            raise IdentificationError(f"'{study.path}', [parameters]: {kind} is \"all\" or a list of coordinates.")
        lists[kind] = every if names == "all" else names
    payloads = {name: _payload(study, name, entry) for name, entry in study.table("payloads").items()}
    return Extras(**lists, payloads=payloads, threshold=float(asked.get("threshold", 0.0)))


def _payload(study: Study, name: str, entry: Any) -> Frame:
    if not isinstance(entry, dict) or "body" not in entry:
        raise IdentificationError(f"'{study.path}', [payloads.{name}]: give the body that carries it and a position.")
    return Frame(str(entry["body"]), placement([float(x) for x in entry.get("position", (0, 0, 0))]))


def _number(study: Study, table: str, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise IdentificationError(f"'{study.path}', [{table}]: {name} = {value!r} is not a number (in SI).")
    return float(value)


def study_trials(study: Study, model: LinearModel, kind: str = "trials") -> list[Trial]:
    """The trials of a study."""
    return [_trial(study, model, file) for file in study.files(kind)]


def _trial(study: Study, model: LinearModel, file: Path) -> Trial:
    table, layout = read_table(file), model.equations.layout
    known = (*layout.coordinates, *layout.speeds, *layout.accelerations)
    units = {str(s.name): s.data.unit for s in known}
    channels = _mapping(study, "channels", units, table)
    forces = _mapping(study, "forces", {}, table)
    if not forces:
        raise IdentificationError(f"'{study.path}': which columns are forces? Write [data.forces] with q1 = \"tau1\".")
    stated = study.data.get("units", {})
    speeds = {str(v.name).removesuffix("'"): v.data.unit for v in layout.speeds}
    effort = {"m/s": "N"}
    bare = [*table.unstated(channels, stated), *table.unstated(forces, stated)]
    notes = (
        [f"columns {', '.join(bare)} have no unit and were taken as SI{_too_far(table, channels, units, bare)}"]
        if bare
        else []
    )
    trial = make_trial(
        model,
        table.quantity(str(study.data.get("time", "time")), "s", stated.get("time")),
        {name: table.quantity(c, units.get(name, "1"), stated.get(c)) for name, c in channels.items()},
        {name: table.quantity(c, effort.get(speeds.get(name, ""), "N*m"), stated.get(c)) for name, c in forces.items()},
        name=file.name,
        payload=study.data.get("payload", {}).get(file.name),
        treatment=_treatment(study),
    )
    return replace(trial, notes=(*notes, *trial.notes))


def _too_far(table: Table, channels: Mapping[str, str], units: Mapping[str, str], bare: list[str]) -> str:
    """A word on angles without unit that reach further than radians mostly do."""
    angles = [c for name, c in channels.items() if c in bare and units.get(name) == "rad" and c not in table.faults]
    reach = {c: float(np.nanmax(np.abs(table.columns[c]), initial=0.0)) for c in angles}
    far = [c for c, most in reach.items() if most > _FAR]
    return f" ({', '.join(far)} reach {max(reach.values()):.3g}: degrees?)" if far else ""


def study_segment_trials(study: Study, model: LinearModel) -> list[SegmentTrial]:
    """Trials of a tree of segments: its motion, and what the outside exerts at the first segment's origin."""
    return [_segment_trial(study, model, file) for file in study.files("trials")]


def _segment_trial(study: Study, model: LinearModel, file: Path) -> SegmentTrial:
    table, layout = read_table(file), model.equations.layout
    units = {str(s.name): s.data.unit for s in (*layout.coordinates, *layout.speeds, *layout.accelerations)}
    stated = study.data.get("units", {})
    time = table.quantity(str(study.data.get("time", "time")), "s", stated.get("time"))
    channels = {
        name: table.quantity(column, units.get(name, "1"), stated.get(column))
        for name, column in _mapping(study, "channels", units, table).items()
    }
    force = _three(study, table, "force", "N")
    moment = _three(study, table, "moment", "N*m") if "moment" in study.data.get("wrench", {}) else 0 * force
    others = {f"{kind} {axis}": x for kind, part in (("force", force), ("moment", moment)) for axis, x in
              zip("xyz", part.T, strict=True)}  # fmt: skip
    motion, kept = recorded_motion(model, time, channels, others, file.name, _treatment(study))
    return trial_of_mechanism(
        model.equations.mechanism, motion.q, motion.v, motion.vdot, force[kept], moment[kept],
        parameters=model.values, step=float(np.median(np.diff(time))), name=file.name,
    )  # fmt: skip


def _three(study: Study, table: Table, kind: str, unit: str) -> Array:
    """Three columns of the wrench."""
    names = study.data.get("wrench", {}).get(kind)
    if not isinstance(names, list) or len(names) != 3:
        raise IdentificationError(
            f'\'{study.path}\': which columns are the {kind}? Write [data.wrench] with {kind} = ["Fx", "Fy", "Fz"].'
        )
    stated = study.data.get("units", {})
    return np.column_stack([table.quantity(str(c), unit, stated.get(c)) for c in names])


def _mapping(study: Study, kind: str, units: Mapping[str, str], table: Table) -> dict[str, str]:
    """Columns by the name of the quantity they hold: those stated, and those named like the quantity itself."""
    stated = study.data.get(kind, {})
    if not isinstance(stated, dict):
        raise IdentificationError(f"'{study.path}', [data]: {kind} is a table, such as q1 = \"column\".")
    return {name: name for name in units if name in table.columns} | {str(k): str(c) for k, c in stated.items()}


def _treatment(study: Study) -> Treatment:
    asked = study.table("treatment")
    settings = {key: asked[key] for key in ("window", "order", "smoothing", "harmonics") if key in asked}
    derivatives = Derivatives(method=asked.get("derivatives", "savitzky_golay"), **settings)
    return Treatment(asked.get("gaps", "refuse"), asked.get("saturation", "refuse"), derivatives)


def study_options(study: Study, model: LinearModel, progress: Any = None) -> Options:
    """Options of the identification."""
    asked = study.table("options")
    weight = study.table("prior").get("weight")
    return Options(
        prior=None if weight is None else described_prior(model, float(weight)),
        limits={name: _limits(study, name, entry) for name, entry in study.table("limits").items()},
        known={name: _number(study, "known", name, x) for name, x in study.table("known").items()},
        instruments=study_trials(study, model, "instruments"),
        validation=study_trials(study, model, "validation"),
        cross=bool(asked.get("cross", False)),
        confidence=float(asked.get("confidence", 0.95)),
        bootstrap=int(asked.get("bootstrap", 0)),
        seed=int(asked.get("seed", 0)),
        progress=progress,
    )


def _limits(study: Study, name: str, entry: Any) -> Limits:
    known = ("mass", "centre", "semi_axes", "axes", "density")
    if not isinstance(entry, dict):
        raise IdentificationError(f"'{study.path}': expected a table [limits.{name}].")
    for key in entry:
        if key not in known:
            raise IdentificationError(unknown_name("limit", key, known, f"'{study.path}', [limits.{name}]: "))
    settings: dict[str, Any] = {key: tuple(x) if isinstance(x, list) else x for key, x in entry.items()}
    return Limits(**settings)


def study_recordings(study: Study, quantities: Mapping[str, str]) -> list[Recording]:
    """Recordings of an output-error study: channels are quantities of the motion (names with their SI units)."""
    found = []
    for file in study.files("trials"):
        table = read_table(file)
        stated = study.data.get("units", {})
        channels = _mapping(study, "channels", {}, table) or {n: n for n in quantities if n in table.columns}
        for name in channels:
            if name not in quantities:
                raise IdentificationError(unknown_name("quantity", name, list(quantities), f"'{study.path}': "))
        found.append(
            Recording(
                table.quantity(str(study.data.get("time", "time")), "s", stated.get("time")),
                {name: table.quantity(c, quantities[name], stated.get(c)) for name, c in channels.items()},
                {k: _number(study, "initial", k, x) for k, x in study.table("initial").items()},
                {k: _number(study, "values", k, x) for k, x in study.table("values").items()},
                file.name,
            )
        )
    return found


def study_unknowns(study: Study) -> dict[str, float]:
    """Unknown parameters and initial states of an output-error study with the values to start from."""
    found = {name: _number(study, "unknown", name, x) for name, x in study.table("unknown").items()}
    if not found:
        raise IdentificationError(f"'{study.path}': what is unknown? Write [unknown] with a start value: m1 = 4.0.")
    return found
