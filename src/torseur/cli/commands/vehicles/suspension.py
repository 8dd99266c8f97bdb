"""`torseur suspension`: camber, toe, caster, roll centre, wheel rate and more over the travel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.shared.option_rules import Rule, force_needs, option_rules
from torseur.cli.shared.options import ForceOption, JsonOption, SourceArgument, ValueOptions

if TYPE_CHECKING:
    from torseur.analysis.vehicles.hardpoints import BestSuspension
    from torseur.analysis.vehicles.suspension_curves import Curves

GEOMETRY, SEARCH = "Geometry", "Search"

WheelOption = Annotated[
    str,
    typer.Option("--wheel", metavar="FRAME", show_default=False,
                 help="Frame or body of the wheel carrier: its origin is the wheel centre, its y axis the spin axis."),
]  # fmt: skip
ReferenceOption = Annotated[
    str, typer.Option("--body", metavar="NAME", help="Body or frame in whose axes all quantities are measured.")
]
RadiusOption = Annotated[
    str,
    typer.Option(
        "--radius",
        metavar="LENGTH",
        help="Tyre radius, from the wheel centre to the contact.",
        rich_help_panel=GEOMETRY,
    ),
]
SteeredOption = Annotated[
    str | None,
    typer.Option("--steering", metavar="NAME", help="Parameter or coordinate that steers; gives the steering axis.",
                 rich_help_panel=GEOMETRY),
]  # fmt: skip
KingpinOption = Annotated[
    str | None,
    typer.Option("--kingpin", metavar="LOWER,UPPER", help="Two frames on the steering axis.", rich_help_panel=GEOMETRY),
]
WheelbaseOption = Annotated[
    str | None,
    typer.Option(
        "--wheelbase", metavar="LENGTH", help="Wheelbase; with it, anti-dive is computed too.", rich_help_panel=GEOMETRY
    ),
]
HeightOption = Annotated[
    str,
    typer.Option("--height", metavar="LENGTH", help="Height of the vehicle's mass centre.", rich_help_panel=GEOMETRY),
]
ShareOption = Annotated[
    float,
    typer.Option(
        "--brake-share", min=0.0, max=1.0, help="Share of the braking force at this axle.", rich_help_panel=GEOMETRY
    ),
]
TravelOption = Annotated[
    str, typer.Option("--travel", metavar="FROM..TO", help="Travel of the wheel, rebound to bump.")
]
SteerOption = Annotated[
    str | None,
    typer.Option("--over", metavar="FROM..TO", help="Plot over this range of steering (SI) instead of wheel travel."),
]
PlacesOption = Annotated[int, typer.Option("--points", min=3, help="Number of points.")]
VariantOption = Annotated[
    list[str] | None,
    typer.Option(
        "--variant", metavar="'NAME: P=VALUE, ...'", help="Further set of values, drawn for comparison. Repeatable."
    ),
]
VaryOption = Annotated[
    list[str] | None,
    typer.Option("--vary", metavar="'P=FROM..TO'", help="Hardpoint coordinate to vary, with its bounds. Repeatable.",
                 rich_help_panel=SEARCH),
]  # fmt: skip
TargetOption = Annotated[
    list[str] | None,
    typer.Option("--target", metavar="'CURVE=VALUE'", rich_help_panel=SEARCH,
                 help="What a curve should be: a value, or a file of two columns (travel, value in SI). Repeatable."),
]  # fmt: skip
CurvesFileOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE.csv", help="Write the curves to a file.")
]
SuspensionPageOption = Annotated[
    Path | None, typer.Option("--report", metavar="FILE.html", help="Write an HTML page with the curves.")
]


class SuspensionOptions(NamedTuple):
    """Which suspension, over which travel, and what is looked for."""

    source: SourceArgument
    wheel: WheelOption
    body: ReferenceOption = "earth"
    radius: RadiusOption = "0.3 m"
    steering: SteeredOption = None
    kingpin: KingpinOption = None
    wheelbase: WheelbaseOption = None
    height: HeightOption = "0.5 m"
    brake_share: ShareOption = 0.6
    travel: TravelOption = "-80 mm..80 mm"
    over: SteerOption = None
    points: PlacesOption = 33
    variant: VariantOption = None
    vary: VaryOption = None
    target: TargetOption = None
    out: CurvesFileOption = None
    report: SuspensionPageOption = None
    values: ValueOptions = ValueOptions()
    force: ForceOption = False
    json: JsonOption = False


@option_rules(
    Rule("--steering", not_with="--kingpin", why="each gives the steering axis"),
    Rule("--over", needs="--steering", why="it is what the curves are drawn over"),
    Rule("--vary", needs="--target", why="hardpoints are moved towards curves that are wanted"),
    Rule("--target", needs="--vary", why="something must be free to move"),
    Rule("--vary", not_with="--over", why="targets are curves over the travel"),
    Rule("--travel", not_with="--over", why="the curves are over the steering, at the travel as described"),
    Rule("--height --brake-share", needs="--wheelbase", why="they enter the anti-dive, which the wheelbase asks for"),
    force_needs("--out", "--report"),
)
def suspension(options: SuspensionOptions) -> None:
    """Compute camber, toe, caster, roll centre, anti-dive, wheel rate and motion ratio over wheel travel or steering.

    Example: torseur suspension library:car --wheel fl.hub --body body --steering steer --report front.html
    """
    import numpy as np

    from torseur.analysis.vehicles.suspension_curves import steering_curves, suspension_curves
    from torseur.analysis.vehicles.wheel_travel import Suspension
    from torseur.cli.shared.console import print_json, say, working
    from torseur.cli.shared.exits import USAGE, CommandError
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.prepared_model import Work
    from torseur.edges.budgets import FREQUENCY, require_memory

    require_outputs(options.force, (options.out, (".csv",)), (options.report, (".html",)))
    require_memory(options.points, FREQUENCY, f"--points {options.points}")
    travel = _range("--travel", options.travel, "m")
    work = Work.begin(options.source, options.values)
    pair = None
    if options.kingpin is not None:
        lower, comma, upper = options.kingpin.partition(",")
        if not comma:
            raise CommandError(f"--kingpin {options.kingpin}: expected two frames, LOWER,UPPER.", USAGE)
        pair = (lower.strip(), upper.strip())
    base = Suspension(
        work.started, options.wheel, options.body, _length("--radius", options.radius), options.steering, pair,
        None if options.wheelbase is None else _length("--wheelbase", options.wheelbase),
        _length("--height", options.height), options.brake_share, dict(work.values.parameters),
    )  # fmt: skip
    name = work.source.mechanism.name
    variants = {"as described": base, **{n: base.with_values(v) for n, v in _variants(options.variant, work).items()}}
    best = None
    with working(f"{name}: curves", quiet=options.json):
        if options.over is not None:
            places = np.linspace(*_numbers("--over", options.over), options.points)
            curves = [steering_curves(s, places, name=n) for n, s in variants.items()]
        else:
            places = np.linspace(*travel, options.points)
            if options.vary:
                best = _search(base, options, places, work)
                variants["optimised"] = base.with_values(best.values)
            curves = [suspension_curves(s, places, name=n) for n, s in variants.items()]
    if options.out is not None:
        _write(curves, options.out)
    if options.report is not None:
        from torseur.presentation.report.vehicles.suspension_page import write_suspension_page

        command = f"torseur suspension {options.source} --wheel {options.wheel} --body {options.body}"
        write_suspension_page(base, curves, best, command, options.report)
    if options.json:
        print_json(document(curves, best))
        return
    _show(name, curves, best)
    for path in (options.out, options.report):
        if path is not None:
            say(f"written: {path}")


def _search(base: Any, options: SuspensionOptions, places: Any, work: Any) -> BestSuspension:
    from torseur.analysis.vehicles.hardpoints import optimise_suspension

    units = _units(work)
    vary = {}
    for text in options.vary or ():
        name, equals, bounds = text.partition("=")
        if not equals:
            raise _wrong("--vary", text, "expected P=FROM..TO, such as 'rod_inner_z=-60 mm..-20 mm'")
        vary[name.strip()] = _range("--vary", bounds, units.get(name.strip(), "m"))
    targets = dict(_target(text) for text in options.target or ())
    return optimise_suspension(base, vary, targets, places)


def _target(text: str) -> tuple[str, Any]:
    from torseur.analysis.vehicles.suspension_curves import QUANTITIES
    from torseur.errors import TorseurError, unknown_name

    name, equals, value = (part.strip() for part in text.partition("="))
    if name not in QUANTITIES:
        raise TorseurError(unknown_name("curve", name, QUANTITIES, "--target: "))
    if not equals:
        raise _wrong("--target", text, "expected CURVE=VALUE, such as 'toe=0 deg'")
    if value.endswith((".csv", ".txt")):
        return name, _table(Path(value))
    return name, _value("--target", value, QUANTITIES[name][0])


def _table(path: Path) -> Callable[[Any], Any]:
    import numpy as np

    from torseur.edges.budgets import bounded_text
    from torseur.errors import TorseurError

    try:
        rows = [
            line.replace(";", ",").split(",") for line in bounded_text(path, 1_000_000).splitlines() if line.strip()
        ]
        points = np.array([[float(x) for x in row] for row in rows if not row[0].strip()[:1].isalpha()])
        if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2 or np.any(np.diff(points[:, 0]) <= 0):
            raise ValueError
    except OSError as problem:
        raise TorseurError(f"'{path}' cannot be read: {problem.strerror}.") from problem
    except ValueError as problem:
        raise TorseurError(f"'{path}': expected two columns of numbers, travel (rising) and value, in SI.") from problem

    def at(travel: Any) -> Any:
        if travel.min() < points[0, 0] - 1e-12 or travel.max() > points[-1, 0] + 1e-12:
            raise TorseurError(f"'{path}' ends before the travel does: it holds {points[0, 0]:g}..{points[-1, 0]:g} m.")
        return np.interp(travel, points[:, 0], points[:, 1])

    return at


def _variants(given: list[str] | None, work: Any) -> dict[str, dict[str, float]]:
    from torseur.cli.shared.value_options import read_values

    variants = {}
    for text in given or ():
        name, colon, rest = text.partition(":")
        if not colon:
            raise _wrong("--variant", text, "expected 'NAME: P=VALUE, ...'")
        settings = [part.strip() for part in rest.split(",") if part.strip()]
        variants[name.strip()] = dict(read_values(work.tree, settings, (), None).parameters)
    return variants


def _units(work: Any) -> Mapping[str, str]:
    return {str(p.name): str(p.data.unit) for p in work.tree.layout.parameters}


def _range(option: str, text: str, unit: str) -> tuple[float, float]:
    low, dots, high = text.partition("..")
    if not dots:
        raise _wrong(option, text, "expected FROM..TO, such as '-80 mm..80 mm'")
    first, last = _value(option, low.strip(), unit), _value(option, high.strip(), unit)
    if not first < last:
        raise _wrong(option, text, "expected two values that rise")
    return first, last


def _numbers(option: str, text: str) -> tuple[float, float]:
    from torseur.description.language.formulas.quantities_with_units import quantity

    low, dots, high = text.partition("..")
    if not dots:
        raise _wrong(option, text, "expected FROM..TO")
    return quantity(low.strip(), option)[0], quantity(high.strip(), option)[0]


def _length(option: str, text: str) -> float:
    value = _value(option, text, "m")
    if not value > 0:
        raise _wrong(option, text, "expected a positive length")
    return value


def _value(option: str, text: str, unit: str) -> float:
    from torseur.description.language.formulas.quantities_with_units import quantity
    from torseur.description.mechanism.units import kind_of, parse_unit

    value, given = quantity(text, option)
    if given is not None and parse_unit(given)[1] != parse_unit(unit)[1]:
        raise _wrong(option, text, f"expected a {kind_of(parse_unit(unit)[1])}")
    return value


def _wrong(option: str, text: str, expected: str) -> Exception:
    from torseur.cli.shared.exits import USAGE, CommandError

    return CommandError(f"{option} {text}: {expected}.", USAGE)


def _columns(curves: Curves) -> dict[str, Any]:
    return {**curves.values, **{f"motion ratio of {spring}": ratio for spring, ratio in curves.ratios.items()}}


def _write(curves: list[Curves], path: Path) -> None:
    """One row per variant and place, in SI."""
    from torseur.analysis.vehicles.suspension_curves import QUANTITIES
    from torseur.cli.shared.output_files import write_text
    from torseur.edges.plain_text import cell

    names = list(_columns(curves[0]))
    heads = [f"{n} [{QUANTITIES[n][0]}]" if n in QUANTITIES else n for n in names]
    rows = [",".join(map(cell, ["variant", curves[0].over, *heads]))]
    for one in curves:
        columns = _columns(one)
        for k, place in enumerate(one.places.tolist()):
            numbers = (columns[n][k] if n in columns else float("nan") for n in names)
            rows.append(",".join([cell(one.name), repr(place), *(repr(float(x)) for x in numbers)]))
    write_text(path, "\n".join(rows))


def document(curves: list[Curves], best: BestSuspension | None) -> dict[str, Any]:
    """The curves as plain data."""
    return {
        "over": curves[0].over,
        "variants": [{"name": c.name, "places": c.places, "curves": _columns(c)} for c in curves],
        "optimised": None
        if best is None
        else {"values": best.values, "error_before": best.error_before, "error_after": best.error_after,
              "at_bounds": best.at_bounds},
    }  # fmt: skip


SHOWN_AS = {"rad": ("deg", 57.29577951308232), "m": ("mm", 1e3), "N/m": ("N/mm", 1e-3), "N": ("N", 1.0), "1": ("", 1.0)}


def _show(name: str, curves: list[Curves], best: BestSuspension | None) -> None:
    import numpy as np

    from torseur.analysis.vehicles.suspension_curves import QUANTITIES
    from torseur.cli.shared.console import say, show_table

    for one in curves:
        length = len(one.places)
        kept = sorted({round(k * (length - 1) / 4) for k in range(5)})
        factor = 1e3 if one.over == "travel" else 1.0
        rows = []
        for curve, values in _columns(one).items():
            unit, scale = SHOWN_AS[QUANTITIES[curve][0]] if curve in QUANTITIES else ("", 1.0)
            label = f"{curve} ({unit})" if unit else curve
            rows.append([label, *(f"{scale * values[k]:.4g}" for k in kept)])
        head = [f"{one.over} {'(mm)' if one.over == 'travel' else ''}".strip()]
        head += [f"{factor * one.places[k]:.4g}" for k in kept]
        show_table(f"{name}: {one.name}", head, rows, list(range(1, len(head))))
    if best is not None:
        for parameter, value in best.values.items():
            say(f"{parameter} = {value:.9g}" + (" (at its bound)" if parameter in best.at_bounds else ""))
        gain = best.error_before / max(best.error_after, 1e-300)
        say(f"error of the curves {best.error_before:.4g} before, {best.error_after:.4g} after: {gain:.3g} times less"
            if np.isfinite(gain) else f"error of the curves {best.error_after:.4g}")  # fmt: skip
