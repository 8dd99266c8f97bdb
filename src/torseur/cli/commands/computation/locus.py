"""`torseur locus`: how the roots of small motions move with a parameter, and where stability changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from torseur.cli.shared.about_state import (
    STATE_RULES,
    EquilibriumOption,
    IndependentOption,
    SteadyOptions,
    VerifyOption,
)
from torseur.cli.shared.option_rules import Rule, force_needs, option_rules
from torseur.cli.shared.options import ForceOption, JsonOption, SourceArgument, ValueOptions

if TYPE_CHECKING:
    from torseur.cli.shared.about_state import Surroundings
    from torseur.computation.linearisation import RootLocus

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
    typer.Option("--state", metavar="NAME", help="Keep only this state of the linearised system. Repeatable."),
]
PlotOption = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Plot the result to a .svg, .png or .pdf file.")
]


class LocusOptions(NamedTuple):
    """What varies between which values, about which state, and what is kept of it."""

    source: SourceArgument
    over: OverOption
    first: FromOption
    last: ToOption
    points: PointsOption = 41
    state: StateOption = None
    plot: PlotOption = None
    equilibrium: EquilibriumOption = False
    steady: SteadyOptions = SteadyOptions()
    independent: IndependentOption = None
    values: ValueOptions = ValueOptions()
    force: ForceOption = False
    verify: VerifyOption = True
    json: JsonOption = False


@option_rules(
    *STATE_RULES,
    Rule("--independent", needs="--state", why="all roots together are the same in any coordinates"),
    force_needs("--plot"),
)
def locus(options: LocusOptions) -> None:
    """Follow the eigenvalues over a parameter, and find the values at which stability changes.

    Example: torseur locus library:whipple_bicycle --over speed --from 0 --to 10 --plot bicycle.svg
    """
    from torseur.cli.shared.about_state import Surroundings, checks_of, report_checks
    from torseur.cli.shared.console import print_json, working
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.prepared_model import Work

    require_outputs(options.force, (plot := options.plot, PLOTS))
    about = Surroundings(Work.begin(options.source, options.values), options.equilibrium, options.steady)
    with working(f"{about.name}: roots", quiet=options.json):
        roots = _roots(about, options)
        checks = checks_of(options.verify, roots)
    if plot is not None:
        roots.plot(plot)
    if options.json:
        print_json(document(roots, plot) | {"checks": [check.to_dict() for check in checks]})
    else:
        _show(about.name, roots, _unit(about, options.over), plot)
    report_checks(checks, options.json)


def _roots(about: Surroundings, options: LocusOptions) -> RootLocus:
    import numpy as np

    from torseur.computation.linearisation import root_locus
    from torseur.edges.budgets import FREQUENCY, require_memory

    over = options.over
    require_memory(options.points, FREQUENCY, f"--points {options.points}")
    # What varies is a parameter, or a value of the initial state such as the speed of a bicycle; only the first changes
    # the equations' numbers, and both may move the steady state that is looked for.
    is_parameter = over in about.work.tree.layout.parameter_names
    _require_free_to_vary(about, over)
    low, high = (_value(about, over, end, is_parameter) for end in (options.first, options.last))

    def parameters(value: float) -> dict[str, float]:
        return {**about.work.values.parameters, **({over: value} if is_parameter else {})}

    def at(value: float) -> dict[str, float]:
        return about.state(parameters(value), {} if is_parameter else {over: value})

    return root_locus(
        about.equations, np.linspace(low, high, options.points).tolist(), at=at, parameters=parameters,
        states=options.state or (), independent=options.independent or (), name=over,
    )  # fmt: skip


def _require_free_to_vary(about: Surroundings, over: str) -> None:
    from torseur.cli.shared.exits import USAGE, CommandError

    values = about.work.values
    for option, given in (("--set", values.parameters), ("--init", values.initial)):
        if over in given:
            raise CommandError(
                f"{option} {over}: --over {over} replaces it by --from to --to. Leave {option} out.", USAGE
            )


def _value(about: Surroundings, name: str, text: str, is_parameter: bool) -> float:
    """A value of a parameter or of the initial state, with its unit checked."""
    from torseur.cli.shared.value_options import read_values

    given, tree = [f"{name}={text}"], about.work.tree
    if is_parameter:
        return read_values(tree, given, (), None).parameters[name]
    return read_values(tree, (), given, None).initial[name]


def document(roots: RootLocus, plot: Path | None) -> dict[str, object]:
    """A root locus as plain data; complex numbers are pairs."""
    return {
        "over": roots.name,
        "values": roots.values,
        "roots": [[[root.real, root.imag] for root in row] for row in roots.eigenvalues.tolist()],
        "crossings": [
            {"value": c.value, "root": [c.eigenvalue.real, c.eigenvalue.imag], "grows_beyond": c.growing}
            for c in roots.crossings
        ],
        **({"plot": str(plot)} if plot is not None else {}),
    }


def _unit(about: Surroundings, name: str) -> str:
    """The unit of what varies."""
    layout = about.work.tree.layout
    symbols = [*layout.parameters, *layout.coordinates, *layout.speeds]
    units = {str(x.name): str(x.data.unit) for x in symbols}
    return units[name] if units.get(name, "1") != "1" else ""


def _show(name: str, roots: RootLocus, unit: str, plot: Path | None) -> None:
    from torseur.cli.commands.computation.modes import complex_text
    from torseur.cli.shared.console import say, show_table

    rows = []
    for value, row in zip(roots.values, roots.eigenvalues, strict=True):
        upper = sorted((complex(root) for root in row if root.imag >= 0), key=lambda root: (root.real, root.imag))
        resolution = NOTHING * abs(row).max(initial=0.0)
        rows.append([f"{value:.6g}", ";  ".join(complex_text(root, resolution) for root in upper)])
    show_table(f"{name}: roots (1/s)", [roots.name + (f" ({unit})" if unit else ""), "roots"], rows, [0])
    for crossing in roots.crossings:
        change = "unstable" if crossing.growing else "stable"
        root = complex_text(1j * abs(crossing.eigenvalue.imag), 1e-9 * abs(roots.eigenvalues).max())
        say(f"{roots.name} = {crossing.value:.9g}: the root {root} becomes {change} beyond")
    if plot is not None:
        say(f"written: {plot}")
