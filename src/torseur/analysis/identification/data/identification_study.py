"""Studies: from the tables of a study file to models, trials and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.data.channel_faults import Treatment
from torseur.analysis.identification.data.data_files import Table, read_table
from torseur.analysis.identification.data.differentiation import Derivatives
from torseur.analysis.identification.data.identification_study_file import Study
from torseur.analysis.identification.data.trials import Trial, make_trial, recorded_motion
from torseur.analysis.identification.estimators.priors import description_prior
from torseur.analysis.identification.identify import Options
from torseur.analysis.identification.model.columns import FORCE_LAWS, Extras
from torseur.analysis.identification.model.linear_model import LinearModel, linear_model
from torseur.analysis.identification.model.pseudo_inertia import Limits
from torseur.analysis.identification.output_error import Recording
from torseur.analysis.identification.segments import MechanismMotion, SegmentTrial, trial_of_mechanism
from torseur.description.mechanism import Frame, Mechanism, placement
from torseur.errors import IdentificationError, unknown_name

_FAR = 20.0  # rad


def study_model(study: Study, mechanism: Mechanism) -> LinearModel:
    """The linear model a study asks for."""
    loads = str(study.tables.get("loads", "known"))
    return linear_model(mechanism, _extras(study, mechanism), study.numbers("values"), loads=loads)


def _extras(study: Study, mechanism: Mechanism) -> Extras:
    asked = study.table("parameters")
    every = [c.name for joint in mechanism.joints for c in joint.coordinates]
    lists: dict[str, Any] = {}
    for kind in FORCE_LAWS:
        names = asked.get(kind, [])
        if names != "all" and not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
            raise IdentificationError(f"'{study.path}', [parameters]: {kind} is \"all\" or a list of coordinates.")
        lists[kind] = every if names == "all" else names
    payloads = {name: _payload(study, name, entry) for name, entry in study.table("payloads").items()}
    return Extras(**lists, payloads=payloads, threshold=study.number("parameters", "threshold", 0.0))


def _payload(study: Study, name: str, entry: Any) -> Frame:
    if not isinstance(entry, dict) or "body" not in entry:
        raise IdentificationError(f"'{study.path}', [payloads.{name}]: give the body that carries it and a position.")
    where = study.as_numbers(f"[payloads.{name}]: position", entry.get("position", [0, 0, 0]), 3)
    return Frame(str(entry["body"]), placement(list(where)))


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
    stated = study.texts("units")
    speeds = {str(v.name).removesuffix("'"): v.data.unit for v in layout.speeds}
    effort = {"m/s": "N"}
    bare = [*table.columns_without_unit(channels, stated), *table.columns_without_unit(forces, stated)]
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
        payload=study.texts("payload").get(file.name),
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
    stated = study.texts("units")
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
        model.equations.mechanism, MechanismMotion(motion.q, motion.v, motion.vdot), force[kept], moment[kept],
        parameters=model.values, step=float(np.median(np.diff(time))), name=file.name,
    )  # fmt: skip


def _three(study: Study, table: Table, kind: str, unit: str) -> Array:
    """Three columns of the wrench."""
    names = study.data.get("wrench", {}).get(kind)
    if not isinstance(names, list) or len(names) != 3:
        raise IdentificationError(
            f'\'{study.path}\': which columns are the {kind}? Write [data.wrench] with {kind} = ["Fx", "Fy", "Fz"].'
        )
    stated = study.texts("units")
    return np.column_stack([table.quantity(str(c), unit, stated.get(c)) for c in names])


def _mapping(study: Study, kind: str, units: Mapping[str, str], table: Table) -> dict[str, str]:
    """Columns by the name of the quantity they hold: those stated, and those named like the quantity itself."""
    return {name: name for name in units if name in table.columns} | study.texts(kind)


def _treatment(study: Study) -> Treatment:
    asked = study.table("treatment")
    settings: dict[str, Any] = {
        key: int(study.number("treatment", key, whole=True)) for key in ("window", "order", "harmonics") if key in asked
    }
    settings["smoothing"] = study.number("treatment", "smoothing", 0.0)
    # A window or an order alone asks for the polynomials that have one.
    usual = "savitzky_golay" if {"window", "order"} & asked.keys() else "cross_validated"
    derivatives = Derivatives(method=str(asked.get("derivatives", usual)), **settings)
    return Treatment(str(asked.get("gaps", "refuse")), str(asked.get("saturation", "refuse")), derivatives)


def study_options(study: Study, model: LinearModel, progress: Any = None) -> Options:
    """Options of the identification."""
    weighs = "weight" in study.table("prior")
    return Options(
        prior=description_prior(model, study.number("prior", "weight")) if weighs else None,
        limits={name: _limits(study, name, entry) for name, entry in study.table("limits").items()},
        known=study.numbers("known"),
        instruments=study_trials(study, model, "instruments"),
        validation=study_trials(study, model, "validation"),
        cross=bool(study.table("options").get("cross", False)),
        confidence=study.number("options", "confidence", 0.95),
        bootstrap=int(study.number("options", "bootstrap", 0, whole=True)),
        seed=int(study.number("options", "seed", 0, whole=True)),
        progress=progress,
    )


_LIMITS = {"mass": 2, "centre": 3, "semi_axes": 3, "axes": 0, "density": 1}


def _limits(study: Study, name: str, entry: Any) -> Limits:
    if not isinstance(entry, dict):
        raise IdentificationError(f"'{study.path}': expected a table [limits.{name}].")
    bounds: dict[str, Any] = {}
    for key, value in entry.items():
        what = f"[limits.{name}]: {key}"
        if key not in _LIMITS:
            raise IdentificationError(unknown_name("limit", key, tuple(_LIMITS), f"'{study.path}', [limits.{name}]: "))
        if key == "density":
            bounds[key] = study.as_number(what, value)
        elif key == "axes":
            rows = value if isinstance(value, list) and len(value) == 3 else [value]
            bounds[key] = tuple(study.as_numbers(what, row, 3) for row in rows)
        else:
            bounds[key] = study.as_numbers(what, value, _LIMITS[key])
    return Limits(**bounds)


def study_recordings(study: Study, quantities: Mapping[str, str]) -> list[Recording]:
    """Recordings of an output-error study: channels are quantities of the motion (names with their SI units)."""
    recordings = []
    for file in study.files("trials"):
        table = read_table(file)
        stated = study.texts("units")
        channels = _mapping(study, "channels", {}, table) or {n: n for n in quantities if n in table.columns}
        for name in channels:
            if name not in quantities:
                raise IdentificationError(unknown_name("quantity", name, list(quantities), f"'{study.path}': "))
        recordings.append(
            Recording(
                table.quantity(str(study.data.get("time", "time")), "s", stated.get("time")),
                {name: table.quantity(c, quantities[name], stated.get(c)) for name, c in channels.items()},
                study.numbers("initial"),
                study.numbers("values"),
                file.name,
            )
        )
    return recordings


def study_unknowns(study: Study) -> dict[str, float]:
    """Unknown parameters and initial states of an output-error study with the values to start from."""
    unknowns = study.numbers("unknown")
    if not unknowns:
        raise IdentificationError(f"'{study.path}': what is unknown? Write [unknown] with a start value: m1 = 4.0.")
    return unknowns
