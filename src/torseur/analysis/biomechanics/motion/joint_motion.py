"""The motion of a model's coordinates through a trial, with speeds and accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.data.differentiation import Derivatives, even_step
from torseur.derivation.tree import build_tree
from torseur.description.mechanism import Mechanism
from torseur.errors import RecordingError, unknown_name


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Coordinates q, their rates v and accelerations vdot (frames, coordinates) at times (frames), in SI units."""

    time: Array
    names: tuple[str, ...]
    q: Array
    v: Array
    vdot: Array
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = (len(self.time), len(self.names))
        for what in ("q", "v", "vdot"):
            values = getattr(self, what)
            if values.shape != shape:
                raise RecordingError(f"motion: {what} has the shape {values.shape}, not (frames, names) = {shape}.")
            bad = np.argwhere(~np.isfinite(values))
            if len(bad):
                frame, name = bad[0]
                raise RecordingError(
                    f"motion: {what} of '{self.names[name]}' is not a number in frame {frame} "
                    f"(t = {self.time[frame]:.6g} s). Cut the trial there, or fill the gap first."
                )

    def __len__(self) -> int:
        return len(self.time)

    def slot(self, name: str) -> int:
        if name not in self.names:
            raise RecordingError(unknown_name("coordinate", name, self.names))
        return self.names.index(name)

    def of(self, name: str) -> Array:
        """One coordinate through time."""
        return self.q[:, self.slot(name)]

    def frames(self, chosen: slice) -> JointMotion:
        """Some of the frames."""
        return JointMotion(self.time[chosen], self.names, self.q[chosen], self.v[chosen], self.vdot[chosen], self.notes)


def coordinate_names(mechanism: Mechanism) -> tuple[str, ...]:
    """The coordinates of a model in its own order, that of motions."""
    return tuple(build_tree(mechanism).layout.coordinate_names)


def joint_motion(
    mechanism: Mechanism, time: Array, q: Array, derivatives: Derivatives | None = None, names: Sequence[str] = ()
) -> JointMotion:
    """The motion from coordinates alone: speeds and accelerations by splines, Savitzky-Golay or other `derivatives`.

    `names` orders the columns of q; without it they are in the order of the model. Savitzky-Golay smooths the
    coordinates too, so that all three belong together.
    """
    wanted = coordinate_names(mechanism)
    columns = _order_columns(np.asarray(q, dtype=float), tuple(names) or wanted, wanted)
    how = derivatives or Derivatives("savitzky_golay", window=15, order=3)
    pairs = [how.of(time, column) for column in columns.T]
    v, vdot = (np.stack([pair[k] for pair in pairs], axis=1) for k in range(2))
    return JointMotion(time, wanted, _smooth(time, columns, how), v, vdot, (f"speeds by {how.words}",))


def _order_columns(q: Array, names: tuple[str, ...], wanted: tuple[str, ...]) -> Array:
    absent = [name for name in wanted if name not in names]
    if absent:
        raise RecordingError(f"motion: no column for coordinate '{absent[0]}' ({len(absent)} are missing).")
    if q.ndim != 2 or q.shape[1] != len(names):
        raise RecordingError(f"motion: q has the shape {q.shape}, not (frames, {len(names)}).")
    return q[:, [names.index(name) for name in wanted]]


def _smooth(time: Array, q: Array, how: Derivatives) -> Array:
    if how.method != "savitzky_golay":
        return q
    from scipy.signal import savgol_filter

    even_step(time)
    return np.asarray(savgol_filter(q, how.window, how.order, axis=0, mode="interp"))
