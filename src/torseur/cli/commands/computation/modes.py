"""`torseur modes`: small motions about a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from torseur.cli.shared.about_state import (
    STATE_RULES,
    EquilibriumOption,
    IndependentOption,
    SteadyOptions,
    VerifyOption,
)
from torseur.cli.shared.option_rules import option_rules
from torseur.cli.shared.options import JsonOption, SourceArgument, ValueOptions

if TYPE_CHECKING:
    from torseur.computation.linearisation import Mode, SmallMotions

TAKES_PART = 0.05  # share of a coordinate in a mode from which it is named


class ModesOptions(NamedTuple):
    """About which state, in which coordinates, and with which values."""

    source: SourceArgument
    equilibrium: EquilibriumOption = False
    steady: SteadyOptions = SteadyOptions()
    independent: IndependentOption = None
    matrices: Annotated[bool, typer.Option("--matrices", help="Print the matrices M, D, K and A as well.")] = False
    values: ValueOptions = ValueOptions()
    verify: VerifyOption = True
    json: JsonOption = False


@option_rules(*STATE_RULES)
def modes(options: ModesOptions) -> None:
    """Compute eigenvalues, frequencies, damping and mode shapes about the initial state or an equilibrium.

    Example: torseur modes library:double_pendulum --equilibrium
    """
    from torseur.cli.shared.about_state import Surroundings, report_checks, unsteadiness
    from torseur.cli.shared.console import print_json, remark, say, show_table
    from torseur.cli.shared.prepared_model import Work

    about = Surroundings(Work.begin(options.source, options.values), options.equilibrium, options.steady)
    motions, checks = about.small_motions(options.independent or (), options.verify)
    if (warning := unsteadiness(motions)) is not None:
        remark(warning)
    if options.json:
        print_json(document(about.name, motions) | {"checks": [check.to_dict() for check in checks]})
        report_checks(checks, options.json)
        return
    headings = ["eigenvalue (1/s)", "frequency (Hz)", "damping ratio", "moves"]
    names = motions.point.equations.layout.coordinate_names
    # Of conjugate pairs one is shown.
    rows = [_row(mode, names) for mode in motions.modes if mode.eigenvalue.imag >= 0]
    show_table(about.name, headings, rows, [0, 1, 2])
    if options.matrices:
        _show_matrices(motions)
    say(f"{'stable' if motions.is_stable else 'unstable'} to first order")
    report_checks(checks, options.json)


def document(name: str, motions: SmallMotions) -> dict[str, object]:
    """Small motions as plain data; complex numbers are pairs."""
    return {
        "name": name,
        "states": motions.state_names,
        "inputs": motions.input_names,
        "A": motions.state_matrix,
        "B": motions.input_matrix,
        "M": motions.mass_matrix,
        "D": motions.damping_matrix,
        "K": motions.stiffness_matrix,
        "stable": motions.is_stable,
        "modes": [
            {
                "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag],
                "frequency": mode.frequency,
                "damping_ratio": mode.damping_ratio,
                "shape": {name: [x.real, x.imag] for name, x in mode.shape.items()},
            }
            for mode in motions.modes
        ],
    }


def complex_text(value: complex, resolution: float = 0.0) -> str:
    """A root, together with its conjugate; parts below the resolution are zero."""
    real, imaginary = (part if abs(part) > resolution else 0.0 for part in (value.real, abs(value.imag)))
    return f"{real:.6g}" if imaginary == 0 else f"{real:.6g} ± {imaginary:.6g} i"


def _row(mode: Mode, coordinates: Sequence[str]) -> list[str]:
    """A mode in words; the largest change of a coordinate counts as 1."""
    moved = {name: abs(mode.shape[name]) for name in coordinates}
    largest = max(moved.values(), default=0.0) or 1.0
    part = [f"{name} {size / largest:.2g}" for name, size in moved.items() if size > TAKES_PART * largest]
    if abs(mode.eigenvalue) <= mode.resolution:
        return ["0", "0", "", ", ".join(part)]
    damping = mode.damping_ratio if abs(mode.growth) > mode.resolution else 0.0
    return [complex_text(mode.eigenvalue, mode.resolution), f"{mode.frequency:.6g}", f"{damping:.4g}", ", ".join(part)]


def _show_matrices(motions: SmallMotions) -> None:
    from torseur.cli.shared.console import show_table

    count = len(motions.positions)
    speeds, positions = motions.state_names[count:], motions.state_names[:count]
    for title, names, columns, matrix in (
        ("M", speeds, speeds, motions.mass_matrix),
        ("D", speeds, speeds, motions.damping_matrix),
        ("K", speeds, positions, motions.stiffness_matrix),
        ("A", motions.state_names, motions.state_names, motions.state_matrix),
    ):
        rows = [[name, *(f"{x:.9g}" for x in row)] for name, row in zip(names, matrix, strict=True)]
        show_table(title, ["", *columns], rows, range(1, len(columns) + 1))
