"""The page of an identification: values with their uncertainty, fits, residuals, convergence and warnings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from torseur.analysis.identification.model.pseudo_inertia import is_consistent
from torseur.analysis.identification.output_error import MotionEstimate
from torseur.analysis.identification.results.estimate import Estimate
from torseur.analysis.identification.results.fits import Fit
from torseur.analysis.identification.segments import SegmentChain, SegmentEstimate
from torseur.presentation.report.page.report_content import (
    Check,
    Convergence,
    Curve,
    DataTable,
    Plot,
    ReportContent,
    Reproduction,
)

Floats = NDArray[np.float64]
MOST_SAMPLES = 1500
GOOD_CONDITION, GOOD_FIT = 100.0, 0.1


def identification_content(
    estimate: Estimate, reproduction: Reproduction | None = None, title: str | None = None
) -> ReportContent:
    """What the page of an identification by regressor shows."""
    name = title or estimate.model.equations.mechanism.name
    tables = [_values(estimate), *_bodies(estimate), *_others(estimate), _residuals(estimate), *_notes(estimate)]
    fits = [*estimate.fits, *estimate.validation]
    return ReportContent(
        title=f"{name}: identification",
        summary=(
            f"{len(estimate.values)} parameters", f"{sum(len(fit.time) for fit in estimate.fits)} samples",
            f"method {estimate.method}", f"condition {estimate.condition:.3g}",
        ),
        warnings=estimate.warnings,
        tables=tuple(tables),
        convergence=_convergence(estimate.method, estimate.history),
        plots=tuple(plot for fit in fits for plot in _plots(fit)),
        checks=tuple(_checks(estimate)),
        reproduction=reproduction or Reproduction(),
    )  # fmt: skip


def motion_content(estimate: MotionEstimate, name: str, reproduction: Reproduction | None = None) -> ReportContent:
    """What the page of an output-error fit shows."""
    rows = [
        (n, f"{v:.9g}", f"{s:.2g}") for n, v, s in zip(estimate.names, estimate.values, estimate.deviation, strict=True)
    ]
    return ReportContent(
        title=f"{name}: identification",
        summary=(f"{len(rows)} unknowns", f"method output_error, {estimate.method}"),
        warnings=estimate.warnings,
        tables=(DataTable("Values", ("Unknown", "Value (SI)", "Deviation"), tuple(rows), numeric=(1, 2)),),
        convergence=(Convergence("Cost by iteration", estimate.history),),
        plots=tuple(plot for fit in estimate.fits for plot in _plots(fit)),
        checks=tuple(Check(*check) for check in estimate.checks),
        reproduction=reproduction or Reproduction(),
    )


def segments_content(
    estimate: SegmentEstimate, chain: SegmentChain, name: str, reproduction: Reproduction | None = None
) -> ReportContent:
    """What the page of an identification from external forces shows."""
    axes = chain.row_names
    rows = [(axes[k], *(f"{x:.6g}" for x in row)) for k, row in enumerate(estimate.J)]
    doubts = [(axes[k], *(f"{x:.2g}" for x in row)) for k, row in enumerate(estimate.deviation)]
    numeric, headings = tuple(range(1, len(axes) + 1)), ("", *axes)
    descent = estimate.descent
    steps = () if descent is None else descent.iterates
    return ReportContent(
        title=f"{name}: identification",
        summary=(f"{len(chain.names)} segments",),
        warnings=estimate.warnings,
        tables=(
            DataTable(
                "J", headings, tuple(rows), "Sums of m r rᵀ (kg m²), m r (kg m) and m (kg), by segment.", numeric
            ),
            DataTable("Standard deviations", headings, tuple(doubts), "0 where an entry was not identified.", numeric),
        ),
        convergence=(
            Convergence("Norm of the gradient by iteration", tuple(step.gradient for step in steps)),
            Convergence("Cost by iteration", tuple(step.cost for step in steps)),
        )
        if steps
        else (),
        checks=tuple(Check(*check) for check in estimate.checks),
        reproduction=reproduction or Reproduction(),
    )


def _notes(estimate: Estimate) -> list[DataTable]:
    rows = tuple((note,) for note in estimate.notes)
    return [DataTable("Notes", ("What was done, and what cannot be known",), rows)] if rows else []


def _values(estimate: Estimate) -> DataTable:
    """Values with what they stand for first; how sure they are stands behind."""
    low, high = estimate.interval
    boot = estimate.bootstrap
    rows = []
    for k, (_, value, deviation, relative, unit, text) in enumerate(estimate.rows()):
        row = [text, f"{value:.6g}", f"{deviation:.2g}", unit]
        row += [f"{boot.deviation[k]:.2g}"] if boot is not None else []
        rows.append((*row, f"{low[k]:.5g} .. {high[k]:.5g}", f"{100 * relative:.2g} %"))
    headings = ["Combination", "Value", "Deviation", "Unit", *(["Bootstrap"] if boot is not None else [])]
    confidence = f"{100 * estimate.confidence:.0f} % interval"
    numeric = (1, 2, *range(4, 7 if boot is not None else 6))
    return DataTable(
        "Identified parameters", (*headings, confidence, "Relative"), tuple(rows),
        "Each value is that of a combination of parameters: what the forces depend on.", numeric,
    )  # fmt: skip


def _bodies(estimate: Estimate) -> list[DataTable]:
    """Mass, mass centre and inertia of every body, where all parameters are known."""
    if estimate.parameters is None:
        return []
    masses, inertias = [], []
    for owner, where in estimate.model.bodies.items():
        p = estimate.parameters[where]
        centre = p[1:4] / p[0] if p[0] > 0 else np.full(3, np.nan)
        masses.append((owner, f"{p[0]:.5g}", *_numbers(centre), "yes" if is_consistent(p) else "no"))
        inertias.append((owner, *_numbers(p[[4, 6, 9, 5, 7, 8]])))
    note = "Mass in kg, mass centre in m in the joint's axes. What the data leave open is close to the prior."
    axes = ("Body", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
    return [
        DataTable("Bodies", ("Body", "Mass", "x", "y", "z", "Real body"), tuple(masses), note, (1, 2, 3, 4)),
        DataTable("Inertias", axes, tuple(inertias), "In kg m² at the joint's origin.", tuple(range(1, 7))),
    ]


def _numbers(values: Floats) -> list[str]:
    """Numbers as text; what is nothing beside the largest is 0."""
    largest = float(np.max(np.abs(values)))
    return [f"{x:.4g}" if abs(x) > 1e-9 * largest else "0" for x in values]


def _others(estimate: Estimate) -> list[DataTable]:
    """Friction, stiffness, rotors and offsets."""
    columns = estimate.model.columns
    chosen = [k for k, c in enumerate(estimate.columns) if columns[c].kind not in ("inertia", "payload")]
    rows = [
        (estimate.names[k], f"{estimate.values[k]:.6g}", f"{estimate.deviation[k]:.2g}", estimate.units[k])
        for k in chosen
    ]
    return (
        [DataTable("Joints", ("Parameter", "Value", "Deviation", "Unit"), tuple(rows), numeric=(1, 2))] if rows else []
    )


def _residuals(estimate: Estimate) -> DataTable:
    rows = []
    roles = (("fitted", estimate.fits), ("held out", estimate.validation), ("by the others", estimate.cross_validation))
    for role, fits in roles:
        for fit in fits:
            for equation, unit in zip(fit.equations, fit.units, strict=True):
                s = fit.statistics(equation)
                rows.append((
                    fit.name, role, equation, f"{s.rms:.3g} {unit}", f"{100 * s.relative:.3g} %",
                    f"{s.correlation:.2f}", f"{s.kurtosis:.2f}", f"{s.worst:.3g} at {s.at:.4g} s",
                ))  # fmt: skip
    headings = ("Trial", "Used", "Force", "Residual", "Of the force", "Neighbours", "Kurtosis", "Largest")
    note = "Neighbours near 0 and kurtosis near 0 are those of white, normal noise."
    return DataTable("Residuals", headings, tuple(rows), note, (3, 4, 5, 6))


def _convergence(method: str, history: tuple[float, ...]) -> tuple[Convergence, ...]:
    if method == "total" or len(history) < 2:
        return ()
    return (Convergence("Relative change by iteration", history),)


def _plots(fit: Fit) -> list[Plot]:
    """Measured and computed force of every equation, and all residuals."""
    every = max(1, len(fit.time) // MOST_SAMPLES)
    times = np.ascontiguousarray(fit.time[::every])
    plots = []
    for k, (equation, unit) in enumerate(zip(fit.equations, fit.units, strict=True)):
        measured, predicted = fit.measured[::every, k], fit.predicted[::every, k]
        curves = (
            Curve("measured", np.ascontiguousarray(measured)),
            Curve("computed", np.ascontiguousarray(predicted), dashed=True),
        )
        plots.append(Plot(f"{equation} in {fit.name}", unit, times, curves))
    left = tuple(
        Curve(equation, np.ascontiguousarray(fit.residual[::every, k])) for k, equation in enumerate(fit.equations)
    )
    unit = fit.units[0] if len(set(fit.units)) == 1 else "N, N m"
    return [*plots, Plot(f"Residuals in {fit.name}", unit, times, left)]


def _checks(estimate: Estimate) -> list[Check]:
    checks = [
        *(Check(*check) for check in estimate.checks),
        Check(
            estimate.condition < GOOD_CONDITION,
            "The motion excites the parameters",
            f"condition number {estimate.condition:.3g}, good below {GOOD_CONDITION:g}",
        ),
    ]
    for fit in estimate.validation:
        checks.append(
            Check(fit.relative < GOOD_FIT, f"Held-out trial {fit.name} is predicted", f"{100 * fit.relative:.3g} %")
        )
    if estimate.parameters is not None:
        bad = [o for o, where in estimate.model.bodies.items() if not is_consistent(estimate.parameters[where])]
        checks.append(
            Check(
                not bad, "Every body is a real one", f"not: {', '.join(bad)}" if bad else "pseudo-inertias are positive"
            )
        )
    return checks
