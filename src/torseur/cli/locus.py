"""`torseur locus`: how the roots of small motions move with a parameter, and where stability changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from torseur.cli.about import EquilibriumOption, FixOption, IndependentOption, MovingOption
from torseur.cli.options import ForceOption, InitOption, JsonOption, LawOption, SetOption, SourceArgument, ValuesOption

if TYPE_CHECKING:
    from torseur.cli.about import Surroundings
    from torseur.linearisation import RootLocus

PLOTS = (".svg", ".png", ".pdf")
NOTHING = 1e-12  # part of a root, in units of the largest, that is shown as zero

OverOption = Annotated[
    str, typer.Option("--over", metavar="NAME", help="Parameter, or initial coordinate or speed.", show_default=False)
]
FromOption = Annotated[str, typer.Option("--from", metavar="VALUE", help="First value.", show_default=False)]
ToOption = Annotated[str, typer.Option("--to", metavar="VALUE", help="Last value.", show_default=False)]
PointsOption = Annotated[int, typer.Option("--points", min=2, help="Number of values.")]
StateOption = Annotated[
    list[str] | None,
    typer.Option("--state", metavar="NAME", help="Keep only these of the small motions. Repeatable."),
]
PlotOption = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw it into a .svg, .png or .pdf file.")
]


def locus(
    source: SourceArgument,
    over: OverOption,
    first: FromOption,
    last: ToOption,
    points: PointsOption = 41,
    state: StateOption = None,
    plot: PlotOption = None,
    equilibrium: EquilibriumOption = False,
    moving: MovingOption = None,
    fix: FixOption = None,
    independent: IndependentOption = None,
    settings: SetOption = None,
    starts: InitOption = None,
    laws: LawOption = None,
    values: ValuesOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Roots of small motions over a parameter, and the values at which stability changes.

    Example: torseur locus library:whipple_bicycle --over speed --from 0 --to 10 --plot bicycle.svg
    """
    from torseur.cli.about import Surroundings
    from torseur.cli.console import print_json, working
    from torseur.cli.files import require_free, require_suffix
    from torseur.cli.work import Work

    if plot is not None:
        require_free(plot, force)
        require_suffix(plot, PLOTS)
    work = Work.begin(source, settings, starts, laws, values)
    about = Surroundings(work, equilibrium, moving or (), fix or ())
    with working(f"{about.name}: roots", quiet=json):
        found = _roots(about, over, (first, last), points, state or (), independent or ())
    if plot is not None:
        found.plot(plot)
    print_json(document(found, plot)) if json else _show(about.name, found, _unit(about, over), plot)


def _roots(
    about: Surroundings, over: str, ends: tuple[str, str], points: int, states: list[str] | tuple[str, ...],
    independent: list[str] | tuple[str, ...],
) -> RootLocus:  # fmt: skip
    import numpy as np

    from torseur.linearisation import root_locus

    is_parameter = over in about.work.tree.layout.parameter_names
    low, high = (_value(about, over, end, is_parameter) for end in ends)

    def parameters(value: float) -> dict[str, float]:
        return {**about.work.values.parameters, **({over: value} if is_parameter else {})}

    def at(value: float) -> dict[str, float]:
        return about.state(parameters(value), {} if is_parameter else {over: value})

    return root_locus(
        about.equations, np.linspace(low, high, points).tolist(), at=at, parameters=parameters, states=states,
        independent=independent, name=over,
    )  # fmt: skip


def _value(about: Surroundings, name: str, text: str, is_parameter: bool) -> float:
    """A value of a parameter or of the initial state, with its unit checked."""
    from torseur.cli.values import read_values

    given, tree = [f"{name}={text}"], about.work.tree
    if is_parameter:
        return read_values(tree, given, (), None).parameters[name]
    return read_values(tree, (), given, None).initial[name]


def document(found: RootLocus, plot: Path | None) -> dict[str, object]:
    """A root locus as plain data; complex numbers are pairs."""
    return {
        "over": found.name,
        "values": found.values,
        "roots": [[[root.real, root.imag] for root in row] for row in found.eigenvalues.tolist()],
        "crossings": [
            {"value": c.value, "root": [c.eigenvalue.real, c.eigenvalue.imag], "grows_beyond": c.growing}
            for c in found.crossings
        ],
        **({"plot": str(plot)} if plot is not None else {}),
    }


def _unit(about: Surroundings, name: str) -> str:
    """The unit of what varies."""
    layout = about.work.tree.layout
    symbols = [*layout.parameters, *layout.coordinates, *layout.speeds]
    units = {str(x.name): str(x.data.unit) for x in symbols}
    return units[name] if units.get(name, "1") != "1" else ""


def _show(name: str, found: RootLocus, unit: str, plot: Path | None) -> None:
    from torseur.cli.console import say, show_table
    from torseur.cli.modes import complex_text

    rows = []
    for value, roots in zip(found.values, found.eigenvalues, strict=True):
        upper = sorted((complex(root) for root in roots if root.imag >= 0), key=lambda root: (root.real, root.imag))
        resolution = NOTHING * abs(roots).max(initial=0.0)
        rows.append([f"{value:.6g}", ";  ".join(complex_text(root, resolution) for root in upper)])
    show_table(f"{name}: roots (1/s)", [found.name + (f" ({unit})" if unit else ""), "roots"], rows, [0])
    for crossing in found.crossings:
        change = "unstable" if crossing.growing else "stable"
        root = complex_text(1j * abs(crossing.eigenvalue.imag), 1e-9 * abs(found.eigenvalues).max())
        say(f"{found.name} = {crossing.value:.9g}: the root {root} becomes {change} beyond")
    if plot is not None:
        say(f"written: {plot}")
