"""Sensitivities of small motions about a steady state: eigenvalues and frequency responses."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.analysis.sensitivity.model.varied_parameters import Requested, Varied
from torseur.analysis.sensitivity.results.sensitivities import Response, Sensitivities
from torseur.analysis.sensitivity.steady.perturbed_small_motions import Complex, Perturbed
from torseur.computation.linearisation import SmallMotions
from torseur.computation.linearisation.frequency_response import force_slot
from torseur.computation.simulation.model.first_order_form import Model
from torseur.computation.simulation.model.system import Vector
from torseur.errors import TorseurError

REPEATED = 1e-6  # distance of eigenvalues, in units of the largest, below which they are not told apart


@dataclass(frozen=True, eq=False)
class ModeSensitivities:
    """Eigenvalues of small motions (1/s), slowest first; derivatives in a row per mode, a column per parameter."""

    parameters: tuple[Varied, ...]
    motions: SmallMotions
    eigenvalues: Complex
    slopes: Complex
    notes: tuple[str, ...] = ()

    @property
    def frequency_slopes(self) -> Vector:
        """Of the frequencies |Im s| / 2π (Hz)."""
        return np.asarray(np.sign(self.eigenvalues.imag)[:, None] * self.slopes.imag / (2.0 * np.pi))

    @property
    def damping_slopes(self) -> Vector:
        """Of the damping ratios -Re s / |s|."""
        s, ds = self.eigenvalues[:, None], self.slopes
        with np.errstate(divide="ignore", invalid="ignore"):
            # ζ = -Re s / |s|, by the quotient rule with |s|' = (Re s Re s' + Im s Im s') / |s|.
            size = np.abs(s)
            return np.asarray(-ds.real / size + s.real * (s.real * ds.real + s.imag * ds.imag) / size**3)

    @property
    def criteria(self) -> Sensitivities:
        """Frequency and damping ratio of each oscillation, as criteria to be ranked and drawn."""
        responses = []
        for k, s in enumerate(self.eigenvalues):
            if s.imag > 0.0 and np.all(np.isfinite(self.slopes[k])):
                hertz, place = s.imag / (2.0 * np.pi), f"of mode {k + 1}"
                responses.append(_number(f"frequency {place}", "Hz", hertz, self.frequency_slopes[k]))
                responses.append(_number(f"damping ratio {place}", "1", -s.real / abs(s), self.damping_slopes[k]))
        name = self.motions.point.equations.mechanism.name
        return Sensitivities(
            name, self.parameters, tuple(responses), "direct", "left and right modes", notes=self.notes
        )


@dataclass(frozen=True, eq=False)
class ResponseSensitivities:
    """A frequency response at angular frequencies (rad/s), and its derivatives: a row per frequency."""

    name: str
    input: str
    output: str
    unit: str
    parameters: tuple[Varied, ...]
    frequencies: Vector
    values: Complex
    slopes: Complex

    @property
    def gain_slopes(self) -> Vector:
        """Of the gains |H|."""
        return np.asarray((np.conj(self.values)[:, None] * self.slopes).real / np.abs(self.values)[:, None])

    @property
    def phase_slopes(self) -> Vector:
        """Of the phases (rad)."""
        return np.asarray((np.conj(self.values)[:, None] * self.slopes).imag / np.abs(self.values)[:, None] ** 2)

    @property
    def criteria(self) -> Sensitivities:
        """Gain and phase along the frequency, as criteria to be ranked and drawn."""
        hertz, what = self.frequencies / (2.0 * np.pi), f"of {self.output} by a force along {self.input}"
        curves = (
            ("gain", self.unit, np.abs(self.values), self.gain_slopes),
            ("phase", "rad", np.unwrap(np.angle(self.values)), self.phase_slopes),
        )
        responses = [
            Response(
                f"{kind} {what}",
                unit,
                "frequency response",
                hertz,
                np.asarray(values),
                derivatives,
                over="frequency [Hz]",
            )
            for kind, unit, values, derivatives in curves
        ]
        reason = "forced motions and their adjoints, one pair per frequency"
        return Sensitivities(self.name, self.parameters, tuple(responses), "adjoint", reason)


def eigenvalue_sensitivity(
    model: Model,
    parameters: Requested | None = None,
    *,
    at: Mapping[str, float] | None = None,
    moving: Collection[str] = (),
    fixed: Collection[str] = (),
    values: Mapping[str, float] | None = None,
) -> ModeSensitivities:
    """Derivatives of the eigenvalues of small motions about equilibrium, or a steady motion (see steady_motion)."""
    small = Perturbed.about(model, parameters, at, moving, fixed, values)
    eigenvalues = np.array([mode.eigenvalue for mode in small.motions.modes])
    resolution = REPEATED * float(np.abs(eigenvalues).max(initial=0.0))
    derivatives = np.full((len(eigenvalues), len(small.variation.varied)), np.nan + 0j)
    lost = []
    for k, s in enumerate(eigenvalues):
        apart = np.abs(np.delete(eigenvalues, k) - s).min(initial=np.inf)
        # A repeated eigenvalue moves with a root of the parameter in general: there is no derivative to give.
        if abs(s) <= resolution or apart <= resolution:
            lost.append(f"{s:.4g}")
            continue
        derivatives[k] = small.eigenvalue_derivatives(complex(s))
    notes = (
        (f"No derivatives for zero or repeated eigenvalues ({', '.join(lost)}): they need not be smooth.",)
        if lost
        else ()
    )
    return ModeSensitivities(small.variation.varied, small.motions, eigenvalues, derivatives, notes)


def frequency_response_sensitivity(
    model: Model,
    input: str,
    output: str,
    frequencies: Sequence[float] | Vector,
    parameters: Requested | None = None,
    *,
    at: Mapping[str, float] | None = None,
    moving: Collection[str] = (),
    fixed: Collection[str] = (),
    values: Mapping[str, float] | None = None,
) -> ResponseSensitivities:
    """Derivatives of the response of a quantity to a generalised force along a coordinate or speed.

    The output is a formula over the motion in the names of the mechanism: a coordinate, the acceleration of a point, a
    reaction. Frequencies in rad/s.
    """
    small = Perturbed.about(model, parameters, at, moving, fixed, values)
    omega = np.asarray(frequencies, dtype=float)
    if omega.ndim != 1 or not len(omega) or not np.all(np.isfinite(omega)):
        raise TorseurError("frequencies are a list of angular frequencies in rad/s, such as [2.0, 6.0].")
    read, force = small.read(output), force_slot(small.motions, input)
    pairs = [small.response(force, read.value, 1j * w) for w in omega]
    table = np.array([value for value, _ in pairs]), np.array([derivatives for _, derivatives in pairs])
    about = small.variation.system.name, input, output, f"{read.unit} per unit force"
    return ResponseSensitivities(*about, small.variation.varied, omega, *table)


def _number(name: str, unit: str, value: float, derivatives: Vector) -> Response:
    """A criterion without a course."""
    return Response(name, unit, "mode", np.zeros(1), np.array([value]), derivatives[None])
