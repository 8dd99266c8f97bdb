"""`torseur modes`: small motions about a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.about import EquilibriumOption, FixOption, IndependentOption, MovingOption
from torseur.cli.options import InitOption, JsonOption, LawOption, SetOption, SourceArgument, ValuesOption

if TYPE_CHECKING:
    from torseur.linearisation import Mode, SmallMotions

TAKES_PART = 0.05  # share of a coordinate in a mode from which it is named


def modes(
    source: SourceArgument,
    equilibrium: EquilibriumOption = False,
    moving: MovingOption = None,
    fix: FixOption = None,
    independent: IndependentOption = None,
    matrices: Annotated[bool, typer.Option("--matrices", help="Also M, D, K and A.")] = False,
    settings: SetOption = None,
    starts: InitOption = None,
    laws: LawOption = None,
    values: ValuesOption = None,
    json: JsonOption = False,
) -> None:
    """Eigenvalues, frequencies, damping and shapes of small motions about the initial state or an equilibrium.

    Example: torseur modes library:double_pendulum --equilibrium
    """
    from torseur.cli.about import Surroundings, unsteadiness
    from torseur.cli.console import print_json, remark, say, show_table
    from torseur.cli.work import Work

    work = Work.begin(source, settings, starts, laws, values)
    about = Surroundings(work, equilibrium, moving or (), fix or ())
    found = about.small_motions(independent or ())
    if (warning := unsteadiness(found)) is not None:
        remark(warning)
    if json:
        print_json(document(about.name, found))
        return
    headings = ["eigenvalue (1/s)", "frequency (Hz)", "damping ratio", "moves"]
    names = found.point.equations.layout.coordinate_names
    rows = [_row(mode, names) for mode in found.modes if mode.eigenvalue.imag >= 0]
    show_table(about.name, headings, rows, [0, 1, 2])
    if matrices:
        _show_matrices(found)
    say(f"{'stable' if found.is_stable else 'unstable'} to first order")


def document(name: str, found: SmallMotions) -> dict[str, object]:
    """Small motions as plain data; complex numbers are pairs."""
    return {
        "name": name,
        "states": found.state_names,
        "inputs": found.input_names,
        "A": found.state_matrix,
        "B": found.input_matrix,
        "M": found.mass_matrix,
        "D": found.damping_matrix,
        "K": found.stiffness_matrix,
        "stable": found.is_stable,
        "modes": [
            {
                "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag],
                "frequency": mode.frequency,
                "damping_ratio": mode.damping_ratio,
                "shape": {name: [x.real, x.imag] for name, x in mode.shape.items()},
            }
            for mode in found.modes
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


def _show_matrices(found: SmallMotions) -> None:
    from torseur.cli.console import show_table

    count = len(found.positions)
    speeds, positions = found.state_names[count:], found.state_names[:count]
    for title, names, columns, matrix in (
        ("M", speeds, speeds, found.mass_matrix),
        ("D", speeds, speeds, found.damping_matrix),
        ("K", speeds, positions, found.stiffness_matrix),
        ("A", found.state_names, found.state_names, found.state_matrix),
    ):
        rows = [[name, *(f"{x:.9g}" for x in row)] for name, row in zip(names, matrix, strict=True)]
        show_table(title, ["", *columns], rows, range(1, len(columns) + 1))
