"""The page of a limb's identification: inertia and first moment beside anthropometry, fits, convergence."""

from __future__ import annotations

import numpy as np

from torseur.analysis.biomechanics.limb_inertia import LimbEstimate
from torseur.analysis.identification.segments import SegmentTrial
from torseur.presentation.report.page.report_content import Check, Curve, DataTable, Plot, ReportContent, Reproduction
from torseur.presentation.report.person.person_looks import in_words
from torseur.presentation.scene.scene import Array

GOOD_FIT = 0.25
_ENTRIES = ((0, 0, "Ixx"), (1, 1, "Iyy"), (2, 2, "Izz"), (0, 1, "Ixy"), (0, 2, "Ixz"), (1, 2, "Iyz"))


def limb_content(
    limb: LimbEstimate, who: tuple[str, ...] = (), reproduction: Reproduction | None = None
) -> ReportContent:
    """What the page of an identified limb shows; `who` tells the person and the table."""
    inertia, moment = limb.differences
    return ReportContent(
        title=f"{limb.limb.name.capitalize()}: a person's own inertia",
        summary=(
            *who,
            f"{len(limb.trials)} trials",
            f"inertia {inertia:.1f} %, first moment {moment:.1f} % off the table",
        ),
        description=(
            f"{in_words(limb.limb.segments[0]).capitalize()} to {in_words(limb.limb.segments[-1])} as one body, at "
            "its joint and in the axes of its first segment: x forward, y up, z right in the neutral posture. From the "
            "ground's reaction and the limb's rotation alone; they do not determine the limb's mass."
        ),
        warnings=(*limb.warnings, *(text for text in limb.estimate.warnings if "excite" not in text)),
        tables=(limb_table(limb), _fit_table(limb)),
        plots=tuple(_plot(trial, limb) for trial in limb.trials),
        checks=_checks(limb),
        reproduction=reproduction or Reproduction(),
        diagram=False,
    )


def limb_table(limb: LimbEstimate) -> DataTable:
    """Identified values with their standard deviations, beside those of the model."""
    inertia, moment = limb.limb.inertia
    rows = [
        (
            name,
            _signed_text(limb.inertia[i, j], 5),
            f"{limb.inertia_deviation[i, j]:.5f}",
            _signed_text(inertia[i, j], 5),
            "kg m²",
        )
        for i, j, name in _ENTRIES
    ]
    rows += [
        (
            f"m c{axis}",
            _signed_text(limb.moment[k], 4),
            f"{limb.deviation[k, 6]:.4f}",
            _signed_text(moment[k], 4),
            "kg m",
        )
        for k, axis in enumerate("xyz")
    ]
    note = "Off the diagonal entries of the matrix, minus the products of inertia."
    return DataTable(
        "Inertia and first moment",
        ("", "Identified", "Deviation", "Anthropometry", "Unit"),
        tuple(rows),
        note,
        (1, 2, 3),
    )


def _signed_text(value: float, digits: int) -> str:
    """With a true minus sign, and none before zero."""
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def _moments(trial: SegmentTrial, J: Array) -> tuple[Array, Array]:
    """Measured and computed moment at the joint (frames, 3)."""

    def axial(T: Array) -> Array:
        return np.stack([T[:, 2, 1], T[:, 0, 2], T[:, 1, 0]], axis=1)

    return axial(trial.T), axial(trial.residual(J) + trial.T)


def _fit_table(limb: LimbEstimate) -> DataTable:
    rows = []
    for trial in limb.trials:
        measured, computed = _moments(trial, limb.J)
        rms = float(np.sqrt(np.mean((measured - computed) ** 2)))
        spread = float(np.sqrt(np.mean(np.var(measured, axis=0))))
        rows.append((trial.name, f"{len(measured)}", f"{spread:.3g}", f"{rms:.3g}"))
    headings = ("Trial", "Frames", "Moment varies by (N m)", "left (N m)")
    return DataTable("Quality of fit", headings, tuple(rows), "Root mean square at the joint.", (1, 2, 3))


def _unexplained_part(limb: LimbEstimate) -> float:
    """The moment left over beside the variation of the moment, over all trials."""
    pairs = [_moments(trial, limb.J) for trial in limb.trials]
    left = sum(float(np.sum((measured - computed) ** 2)) for measured, computed in pairs)
    spread = sum(float(np.sum((measured - measured.mean(axis=0)) ** 2)) for measured, _ in pairs)
    return float(np.sqrt(left / max(spread, 1e-12)))


def _plot(trial: SegmentTrial, limb: LimbEstimate) -> Plot:
    measured, computed = _moments(trial, limb.J)
    times: Array = np.arange(len(measured), dtype=np.float64) * float(trial.weights[0])
    curves = []
    for k, axis in enumerate("xyz"):
        curves.append(Curve(f"{axis} measured", np.ascontiguousarray(measured[:, k] - measured[:, k].mean())))
        curves.append(
            Curve(f"{axis} computed", np.ascontiguousarray(computed[:, k] - measured[:, k].mean()), dashed=True)
        )
    return Plot(f"Moment at the joint, {trial.name}, less its mean", "N m", times, tuple(curves))


def _checks(limb: LimbEstimate) -> tuple[Check, ...]:
    left = _unexplained_part(limb)
    return (
        *(Check(*check) for check in limb.estimate.checks),
        Check(limb.positive, "The limb is a real body", f"smallest eigenvalue {limb.estimate.smallest:.3g}"),
        Check(
            left < GOOD_FIT,
            "The reactions are explained",
            f"{100 * left:.2g} % of the moment's variation is left, good below {100 * GOOD_FIT:g} %",
        ),
        Check(not limb.label_faults, "Markers keep the shape of their segments", "; ".join(limb.label_faults)),
        Check(not limb.warnings, "The rest of the body stands still", "; ".join(limb.warnings)),
    )
