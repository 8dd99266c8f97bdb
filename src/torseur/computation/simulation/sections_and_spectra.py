"""Poincaré sections and Fourier spectra of motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torseur.computation.simulation.model.first_order_form import Model, as_system
from torseur.computation.simulation.model.outputs_and_events import Event, Output, as_events
from torseur.computation.simulation.model.system import Quantity, Vector
from torseur.computation.simulation.output.trajectory import Trajectory
from torseur.computation.simulation.simulate import simulate
from torseur.display import Displayed
from torseur.edges.arguments import explain_methods
from torseur.errors import TorseurError, counted, unknown_name

FADED = 1e-3
UNEVEN = 1e-6  # relative difference of intervals beyond which samples are not evenly spaced


@explain_methods
@dataclass(frozen=True, eq=False, repr=False)
class PoincareSection(Displayed):
    """The states in which a motion passes through w = 0; `points` has a row for each, at its time."""

    surface: str
    direction: int
    points: Trajectory

    def __getitem__(self, name: str) -> Vector:
        return self.points[name]

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        way = {1: "upwards", -1: "downwards", 0: "either way"}[self.direction]
        return (
            f"Poincaré section of '{self.points.name}' where {self.surface} = 0, {way}: {counted(len(self), 'point')}"
        )


def poincare_section(
    model: Model,
    surface: str | Event,
    until: float,
    *,
    outputs: Sequence[str | Output] = (),
    direction: int = 1,
    **options: Any,
) -> PoincareSection:
    """The states in which the motion passes through the surface w = 0, a quantity or formula that changes sign there.

    surface    such as "q1" or "theta - 30 deg", or an Event
    direction  +1 where w grows, -1 where it falls, 0 both
    options    as of `simulate`
    """
    system = as_system(model, options.get("parameters"), options.get("initial"))
    (event,) = as_events([surface], system)
    if not isinstance(surface, Event):
        event = Event(event.name, event.function, direction)
    others = list(options.pop("events", ()))  # contacts among them act in both motions
    motion = simulate(model, until, events=[*others, event], samples=2, **options)
    times = [e.time for e in motion.events if e.name == event.name]
    if not times:
        raise TorseurError(
            f"the motion never passes through {event.name} = 0 between t = {options.get('start', 0.0):g} s and "
            f"t = {until:g} s. Go on longer, or choose another surface."
        )
    # The motion once more, sampled where it passes: outputs are computed by what computes them anywhere else.
    points = simulate(model, until, outputs=outputs, events=others, samples=times, **options)
    return PoincareSection(event.name, event.direction, points)


@explain_methods
@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Displayed):
    """Amplitudes of the oscillations in a motion by their frequency (Hz), a column per quantity."""

    frequency: Vector
    amplitudes: Vector
    quantities: tuple[Quantity, ...]
    name: str = "motion"

    def __getitem__(self, name: str) -> Vector:
        names = [quantity.name for quantity in self.quantities]
        if name not in names:
            raise TorseurError(unknown_name("quantity", name, names))
        return np.asarray(self.amplitudes[:, names.index(name)])

    def peak(self, name: str) -> float:
        """The frequency of the largest amplitude (Hz), by the parabola through the logarithms of three lines."""
        values = self[name]
        k = int(np.argmax(values))
        if not 0 < k < len(values) - 1 or np.any(values[k - 1 : k + 2] <= 0):
            return float(self.frequency[k])
        before, here, after = np.log(values[k - 1 : k + 2])
        shift = 0.5 * (before - after) / (before - 2 * here + after)
        return float(self.frequency[k] + shift * (self.frequency[1] - self.frequency[0]))

    @property
    def low(self) -> Spectrum:
        """The part up to where amplitudes have faded to a thousandth of the largest of their quantity."""
        heights = self.amplitudes / np.maximum(self.amplitudes.max(axis=0), 1e-300)
        last = int(np.flatnonzero(heights.max(axis=1) > FADED)[-1])
        keep = slice(0, max(8, round(1.2 * last)))
        return replace(self, frequency=self.frequency[keep], amplitudes=self.amplitudes[keep])

    def __repr__(self) -> str:
        peaks = ", ".join(f"{q.name} at {self.peak(q.name):.4g} Hz" for q in self.quantities[:4])
        return f"Spectrum of '{self.name}', 0 to {self.frequency[-1]:.4g} Hz; largest: {peaks}"


def spectrum(motion: Trajectory, names: str | Sequence[str] | None = None, window: str = "hann") -> Spectrum:
    """The amplitude spectrum of columns of a motion with evenly spaced samples; of all coordinates without names.

    A_k = 2 |Σ w_j (x_j - x̄) e^(-2πi jk/n)| / Σ w_j, with Hann's window w_j = ½ - ½ cos(2π j/n) or "none":
    x = a cos(2π f t) has a line of height a at f.
    """
    steps = np.diff(motion.time)
    if len(motion) < 4 or not np.all(np.abs(steps - steps.mean()) <= UNEVEN * abs(steps.mean())):
        raise TorseurError("a spectrum needs evenly spaced samples, four at least: simulate with samples=1001, say.")
    if window not in ("hann", "none"):
        raise TorseurError(unknown_name("window", window, ["hann", "none"]))
    columns = {column.name: column.quantity for column in motion.columns}
    given = [names] if isinstance(names, str) else names
    wanted = list(given) if given is not None else [c.name for c in motion.columns if c.kind.value == "coordinate"]
    for name in wanted:
        if name not in columns:
            raise TorseurError(unknown_name("column", name, columns))
    n = len(motion)
    weights = np.ones(n) if window == "none" else 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)
    values = np.stack([motion[name] for name in wanted], axis=1)
    transformed = np.fft.rfft(weights[:, None] * (values - values.mean(axis=0)), axis=0)
    amplitudes = 2 * np.abs(transformed) / weights.sum()
    frequency = np.asarray(np.fft.rfftfreq(n, d=float(abs(steps.mean()))), dtype=np.float64)
    return Spectrum(frequency, amplitudes, tuple(columns[name] for name in wanted), motion.name)
