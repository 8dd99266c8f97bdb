"""Sensitivities of small motions about a steady state: eigenvalues and frequency responses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from torseur.analysis.sensitivity.model.preparation import Prepared, prepare
from torseur.analysis.sensitivity.model.varied_parameters import Requested, Varied
from torseur.analysis.sensitivity.results.sensitivities import Response, Sensitivities, in_form
from torseur.analysis.sensitivity.results.verification import Agreement
from torseur.analysis.sensitivity.results.verification import verify as verify_result
from torseur.analysis.sensitivity.steady.perturbed_small_motions import Complex, Perturbed
from torseur.analysis.sensitivity.steady.steady_states import PRECISION
from torseur.computation.linearisation import SmallMotions
from torseur.computation.linearisation.frequency_response import force_slot
from torseur.computation.simulation.model.first_order_form import Model
from torseur.computation.simulation.model.system import Vector
from torseur.deprecation import FormerName
from torseur.errors import TorseurError

REPEATED = 1e-6  # distance of eigenvalues, in units of the largest, below which they are not told apart


@dataclass(frozen=True, eq=False)
class ModeSensitivities:
    """Eigenvalues of small motions (1/s), slowest first; derivatives in a row per mode, a column per parameter.

    `agreement` and `trusted` say what differences of eigenvalues made of the derivatives, as in `Sensitivities`.
    """

    parameters: tuple[Varied, ...]
    motions: SmallMotions
    eigenvalues: Complex
    derivatives: Complex
    notes: tuple[str, ...] = ()
    agreement: tuple[Agreement, ...] = ()
    trusted: bool = True

    slopes = FormerName("derivatives")
    frequency_slopes, damping_slopes = FormerName("frequency_derivatives"), FormerName("damping_derivatives")

    @property
    def frequency_derivatives(self) -> Vector:
        """Of the frequencies |Im s| / 2π (Hz)."""
        return np.asarray(np.sign(self.eigenvalues.imag)[:, None] * self.derivatives.imag / (2.0 * np.pi) + 0.0)

    @property
    def damping_derivatives(self) -> Vector:
        """Of the damping ratios -Re s / |s|."""
        s, ds = self.eigenvalues[:, None], self.derivatives
        with np.errstate(divide="ignore", invalid="ignore"):
            # ζ = -Re s / |s|, by the quotient rule with |s|' = (Re s Re s' + Im s Im s') / |s|.
            size = np.abs(s)
            derivatives = -ds.real / size + s.real * (s.real * ds.real + s.imag * ds.imag) / size**3
            # A real eigenvalue has ζ = ±1, whatever it is: what the quotients leave there is rounding.
            return np.asarray(np.where(s.imag == 0.0, 0.0 * derivatives, derivatives) + 0.0)

    def in_form(self, what: str, form: str) -> Vector:
        """Derivatives of the frequencies ("frequency") or damping ratios ("damping") in one of the forms."""
        s = self.eigenvalues
        with np.errstate(divide="ignore", invalid="ignore"):
            values, derivatives = {
                "frequency": (np.abs(s.imag) / (2.0 * np.pi), self.frequency_derivatives),
                "damping": (-s.real / np.abs(s), self.damping_derivatives),
            }[what]
        return in_form(form, self.parameters, np.asarray(values), derivatives)

    @property
    def criteria(self) -> Sensitivities:
        """Frequency and damping ratio of each oscillation, as criteria to be ranked and drawn."""
        responses = []
        for k, s in enumerate(self.eigenvalues):
            if s.imag > 0.0 and np.all(np.isfinite(self.derivatives[k])):
                hertz, place = s.imag / (2.0 * np.pi), f"of mode {k + 1}"
                responses.append(_number(f"frequency {place}", "Hz", hertz, self.frequency_derivatives[k]))
                responses.append(_number(f"damping ratio {place}", "1", -s.real / abs(s), self.damping_derivatives[k]))
        name = self.motions.point.equations.mechanism.name
        return Sensitivities(
            name, self.parameters, tuple(responses), "direct", "left and right modes",
            notes=self.notes, agreement=self.agreement, trusted=self.trusted,
        )  # fmt: skip


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
    derivatives: Complex
    notes: tuple[str, ...] = ()
    agreement: tuple[Agreement, ...] = ()
    trusted: bool = True

    slopes = FormerName("derivatives")
    gain_slopes, phase_slopes = FormerName("gain_derivatives"), FormerName("phase_derivatives")

    @property
    def gain_derivatives(self) -> Vector:
        """Of the gains |H|."""
        # log H = log |H| + i φ, so H'/H = |H|'/|H| + i φ', and H'/H is H* H' / |H|².
        return np.asarray((np.conj(self.values)[:, None] * self.derivatives).real / np.abs(self.values)[:, None])

    @property
    def phase_derivatives(self) -> Vector:
        """Of the phases (rad)."""
        return np.asarray((np.conj(self.values)[:, None] * self.derivatives).imag / np.abs(self.values)[:, None] ** 2)

    @property
    def criteria(self) -> Sensitivities:
        """Gain and phase along the frequency, as criteria to be ranked and drawn."""
        hertz, what = self.frequencies / (2.0 * np.pi), f"of {self.output} by a force along {self.input}"
        curves = (
            ("gain", self.unit, np.abs(self.values), self.gain_derivatives),
            ("phase", "rad", np.unwrap(np.angle(self.values)), self.phase_derivatives),
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
        return Sensitivities(
            self.name, self.parameters, tuple(responses), "adjoint", reason,
            notes=self.notes, agreement=self.agreement, trusted=self.trusted,
        )  # fmt: skip


def eigenvalue_sensitivity(
    model: Model,
    parameters: Requested | None = None,
    *,
    at: Mapping[str, float] | None = None,
    moving: Collection[str] = (),
    fixed: Collection[str] = (),
    values: Mapping[str, float] | None = None,
    verify: bool | None = None,
) -> ModeSensitivities:
    """Derivatives of the eigenvalues of small motions about equilibrium, or a steady motion (see steady_motion).

    `verify` as for `sensitivity`, by the eigenvalues of changed mechanisms.
    """
    ready = prepare(model, parameters, values or {}, at or {}, {}, 0.0)
    small = Perturbed.about(ready, moving, fixed)
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
    known = np.all(np.isfinite(derivatives), axis=1)
    size = float(np.abs(eigenvalues).max(initial=0.0))

    def eigenvalues_after_shift(parameter: Varied, step: float) -> Complex:
        moved = Perturbed.about(ready.with_shift(parameter, step), moving, fixed).motions.modes
        candidates = np.array([mode.eigenvalue for mode in moved])
        # Eigenvalues have no names: each is followed to the nearest one.
        return np.array([candidates[np.argmin(np.abs(candidates - s))] for s in eigenvalues[known]])

    compared = Compared(ready, eigenvalues[known], derivatives[known], size, notes)
    result = compared.verify(eigenvalues_after_shift, verify)
    more = result.notes, result.agreement, result.trusted
    return ModeSensitivities(small.variation.varied, small.motions, eigenvalues, derivatives, *more)


@dataclass(frozen=True, eq=False)
class Compared:
    """Complex numbers with their derivatives, a row each, as they are compared with differences of such numbers."""

    ready: Prepared
    values: Complex
    derivatives: Complex
    size: float
    notes: tuple[str, ...] = ()

    def verify(self, values_after_shift: Callable[[Varied, float], Complex], each: bool | None) -> Sensitivities:
        """What differences say, in the notes, agreement and trust of a result."""

        def parts(parameter: Varied, step: float, tightly: bool) -> list[Vector]:
            return [np.array([x]) for s in values_after_shift(parameter, step) for x in (s.real, s.imag)]

        responses = [
            _number(f"{name} {k}", "1", value, row, self.size)
            for k, (s, ds) in enumerate(zip(self.values, self.derivatives, strict=True))
            for name, value, row in (("real part", s.real, ds.real), ("imaginary part", s.imag, ds.imag))
        ]
        plain = Sensitivities(self.ready.system.name, self.ready.varied, tuple(responses), "", "", notes=self.notes)
        return verify_result(plain, parts, PRECISION, each)


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
    verify: bool | None = None,
) -> ResponseSensitivities:
    """Derivatives of the response of a quantity to a generalised force along a coordinate or speed.

    The output is a formula over the motion in the names of the mechanism: a coordinate, the acceleration of a point, a
    reaction. Frequencies in rad/s. `verify` as for `sensitivity`, by the responses of changed mechanisms.
    """
    ready = prepare(model, parameters, values or {}, at or {}, {}, 0.0)
    small = Perturbed.about(ready, moving, fixed)
    omega = np.asarray(frequencies, dtype=float)
    if omega.ndim != 1 or not len(omega) or not np.all(np.isfinite(omega)):
        raise TorseurError("frequencies are a list of angular frequencies in rad/s, such as [2.0, 6.0].")
    read, force = small.read(output), force_slot(small.motions, input)
    pairs = [small.response(force, read.value, 1j * w) for w in omega]
    table = np.array([value for value, _ in pairs]), np.array([derivatives for _, derivatives in pairs])
    about = small.variation.system.name, input, output, f"{read.unit} per unit force"

    def responses_after_shift(parameter: Varied, step: float) -> Complex:
        other = Perturbed.about(ready.with_shift(parameter, step), moving, fixed)
        return np.array([other.forced(force, read.value, 1j * w)[0] for w in omega])

    compared = Compared(ready, *table, float(np.abs(table[0]).max(initial=0.0)))
    result = compared.verify(responses_after_shift, verify)
    plain = ResponseSensitivities(*about, small.variation.varied, omega, *table)
    return replace(plain, notes=result.notes, agreement=result.agreement, trusted=result.trusted)


def _number(name: str, unit: str, value: float, derivatives: Vector, magnitude: float = 0.0) -> Response:
    """A criterion without a course."""
    return Response(name, unit, "mode", np.zeros(1), np.array([value]), derivatives[None], magnitude=magnitude)
