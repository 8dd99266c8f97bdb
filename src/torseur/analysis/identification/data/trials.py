"""Trials: recorded motion and forces of a mechanism, checked and in SI.

Nothing is repaired in silence: samples with gaps or saturated channels are refused, or left out on request and counted
in the trial's notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from torseur.algebra.arrays import Array, Mask
from torseur.analysis.identification.data.channel_faults import Treatment, usable_samples
from torseur.analysis.identification.data.channels import channel_names, states_from_channels
from torseur.analysis.identification.data.whole_states import Completion, RecordedStates
from torseur.analysis.identification.model.constraint_projector import Projector
from torseur.analysis.identification.model.coordinate_rates import CoordinateRates
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.errors import IdentificationError, unknown_name


@dataclass(frozen=True, eq=False)
class Trial:
    """One recording: time (s), coordinates, speeds, accelerations and forces (SI), one row per sample.

    `measured` tells which columns of `tau` were recorded; the others are zero and count as passive only where loops
    need them. `payload` names the load carried in this trial.
    """

    name: str
    time: Array
    q: Array
    v: Array
    vdot: Array
    tau: Array
    measured: tuple[bool, ...]
    payload: str | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.time)

    def part(self, chosen: slice | Array | Mask) -> Trial:
        """Some of the samples."""
        fields = {name: getattr(self, name)[chosen] for name in ("time", "q", "v", "vdot", "tau")}
        return replace(self, **fields)


def make_trial(
    model: LinearModel,
    time: Array,
    channels: Mapping[str, Array],
    forces: Mapping[str, Array],
    *,
    name: str = "trial",
    payload: str | None = None,
    treatment: Treatment | None = None,
) -> Trial:
    """A trial from channels by name (`q1`, `q1'`, `q1''`) and forces by coordinate, all in SI.

    Speeds and accelerations that are not among the channels come from the coordinates. Coordinates that are not
    recorded follow from the loops.
    """
    others = {f"force on {k}": x for k, x in forces.items()}
    motion, kept = recorded_motion(model, time, channels, others, name, treatment or Treatment())
    tau, measured = _forces(model, name, len(time), forces)
    _check_payload(model, name, payload)
    return replace(motion, tau=tau[kept], measured=measured, payload=payload)


def recorded_motion(
    model: LinearModel,
    time: Array,
    channels: Mapping[str, Array],
    others: Mapping[str, Array],
    name: str,
    how: Treatment,
) -> tuple[Trial, Mask]:
    """The motion of a recording, still without forces, at the samples that may be used, and which those are.

    `others` are channels that were recorded besides the motion: their faults count too.
    """
    known = channel_names(model)
    for given in channels:
        if given not in known:
            raise IdentificationError(unknown_name("channel", given, known, f"trial '{name}': "))
    time = np.asarray(time, dtype=float)
    motion = {key: np.asarray(values, dtype=float) for key, values in channels.items()}
    good = usable_samples(name, time, {**motion, **others}, how)
    recorded, kept, notes = states_from_channels(model, name, time, motion, how, good)
    q, v, vdot, more = _states(model, name, recorded)
    n = v.shape[1]
    nothing = np.zeros((len(q), n))
    whole = Trial(name, recorded.time, q, v, vdot, nothing, (False,) * n, notes=(*good.notes, *notes, *more))
    return whole, kept


def _states(model: LinearModel, name: str, recorded: RecordedStates) -> tuple[Array, Array, Array, list[str]]:
    """q, v, v̇ of every coordinate, from what was recorded."""
    layout, rates = model.equations.layout, CoordinateRates(model)
    missing = [c for k, c in enumerate(layout.coordinate_names) if k not in recorded.coordinates]
    if not model.is_constrained:
        if missing:
            raise IdentificationError(
                f"trial '{name}': coordinate{'s' if len(missing) > 1 else ''} {', '.join(missing)} not recorded."
            )
        return *recorded.states(rates), []
    projector = Projector(model)
    if missing:
        completion = Completion(projector, recorded)
        rolled = f"{', '.join(missing)} followed from rolling, from the description's initial values"
        return *completion.states(), [rolled] if completion.rolls else []
    q, v, vdot = recorded.states(rates)
    # Everything was recorded: it need not be completed, only be consistent with the loops but for noise.
    projector.require_closed(recorded.time, q, tolerance=1e-3)
    projector.require_rolling(recorded.time, q, v)
    return q, v, vdot, []


def _check_payload(model: LinearModel, name: str, payload: str | None) -> None:
    loads = [column.owner for column in model.columns if column.kind == "payload"]
    if payload is not None and payload not in loads:
        raise IdentificationError(unknown_name("payload", payload, dict.fromkeys(loads), f"trial '{name}': "))


def _forces(model: LinearModel, name: str, count: int, forces: Mapping[str, Array]) -> tuple[Array, tuple[bool, ...]]:
    layout = model.equations.layout
    slots = {speed.removesuffix("'"): k for k, speed in enumerate(layout.speed_names)}
    slots |= {speed: k for k, speed in enumerate(layout.speed_names)}
    tau, measured = np.zeros((count, len(layout.speeds))), [False] * len(layout.speeds)
    for coordinate, values in forces.items():
        if coordinate not in slots:
            names = [speed.removesuffix("'") for speed in layout.speed_names]
            raise IdentificationError(unknown_name("coordinate", coordinate, names, f"trial '{name}', forces: "))
        tau[:, slots[coordinate]] = values
        measured[slots[coordinate]] = True
    if not any(measured):
        raise IdentificationError(f"trial '{name}': no force is recorded.")
    return tau, tuple(measured)
