"""Drawings of root loci and frequency responses, by matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from torseur.errors import TorseurError
from torseur.extras import install_command

if TYPE_CHECKING:
    from torseur.computation.linearisation.frequency_response import FrequencyResponse
    from torseur.computation.linearisation.root_locus import RootLocus


def _figure(columns: int) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise TorseurError(f"drawing needs matplotlib: {install_command('plots')}.") from missing
    figure = Figure(figsize=(5.0 * columns, 4.0), layout="constrained")
    return figure, figure.subplots(1, columns)


def draw_root_locus(locus: RootLocus, path: Path) -> Path:
    """Roots in the complex plane, and over the values."""
    figure, (plane, over) = _figure(2)
    for branch in locus.eigenvalues.T:
        plane.plot(branch.real, branch.imag, ".-", linewidth=0.8, markersize=3)
        (line,) = over.plot(locus.values, branch.real, linewidth=1.2)
        over.plot(locus.values, np.abs(branch.imag), "--", color=line.get_color(), linewidth=0.8)
    plane.axvline(0.0, color="0.6", linewidth=0.8)
    over.axhline(0.0, color="0.6", linewidth=0.8)
    for crossing in locus.crossings:
        over.axvline(crossing.value, color="0.6", linewidth=0.8, linestyle=":")
        over.annotate(f" {crossing.value:.4g}", (crossing.value, 1.0), xycoords=("data", "axes fraction"), va="top")
    plane.set(xlabel="real part (1/s)", ylabel="imaginary part (1/s)")
    over.set(xlabel=locus.name, ylabel="real part, and imaginary part dashed (1/s)")
    figure.savefig(path)
    return path


def draw_frequency_response(response: FrequencyResponse, path: Path) -> Path:
    """Gain and phase over the frequency."""
    figure, (gain, phase) = _figure(2)
    hertz = response.frequencies / (2 * np.pi)
    gain.loglog(hertz, np.abs(response.values))
    phase.semilogx(hertz, np.degrees(np.unwrap(np.angle(response.values))))
    gain.set(xlabel="frequency (Hz)", ylabel=f"{response.output} per {response.input}")
    phase.set(xlabel="frequency (Hz)", ylabel="phase (degrees)")
    figure.savefig(path)
    return path
