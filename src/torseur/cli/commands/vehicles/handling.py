"""`torseur handling`: steady cornering to the limit, understeer, characteristic speed, steps, lane changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from torseur.cli.shared.about_state import VerifyOption
from torseur.cli.shared.option_rules import Rule, force_needs, option_rules
from torseur.cli.shared.options import ForceOption, JsonOption, SourceArgument, ValueOptions

if TYPE_CHECKING:
    from torseur.analysis.vehicles.cornering import SteadyCornering, Turn
    from torseur.analysis.vehicles.handling import Handling, LaneChange, StepSteer

SHOWN = 16  # turns on the screen

SteeringOption = Annotated[
    str,
    typer.Option(
        "--steering",
        metavar="NAME",
        help="Steering input: a parameter, an angle or a displacement.",
        show_default=False,
    ),
]
DriveOption = Annotated[
    str | None,
    typer.Option("--drive", metavar="NAME", help="Driving input: a parameter, a force or torque; by default a force at "
                 "the mass centre keeps the speed."),
]  # fmt: skip
BodyOption = Annotated[
    str | None, typer.Option("--body", metavar="NAME", help="The vehicle body, if several bodies move freely.")
]
SpinOption = Annotated[
    list[str] | None,
    typer.Option("--moving", metavar="NAME", help="Further coordinate that moves in a steady turn. Repeatable."),
]
SpeedOption = Annotated[str, typer.Option("--speed", metavar="V", help="Speed, e.g. '25 m/s' or '90 km/h'.")]
UpToOption = Annotated[
    str, typer.Option("--up-to", metavar="A", help="Largest lateral acceleration of the steady turns.")
]
StepOption = Annotated[
    str, typer.Option("--step", metavar="A", help="Steady lateral acceleration that the step steer leads to.")
]
SpeedsOption = Annotated[
    str | None,
    typer.Option("--speeds", metavar="FROM..TO", help="Follow the eigenvalues over speeds (m/s), e.g. 5..40."),
]
LaneOption = Annotated[
    bool, typer.Option("--lane-change", help="Also simulate a double lane change with a driver model.")
]
TurnsOption = Annotated[bool, typer.Option("--turns/--no-turns", help="Follow steady turns to the limit.")]
TurnsFileOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE.csv", help="Write the steady turns to a file.")
]
PageOption = Annotated[
    Path | None, typer.Option("--report", metavar="FILE.html", help="Write an HTML page with all curves.")
]


class HandlingOptions(NamedTuple):
    """Which vehicle, at which speed, and what is asked of it."""

    source: SourceArgument
    steering: SteeringOption
    drive: DriveOption = None
    body: BodyOption = None
    moving: SpinOption = None
    speed: SpeedOption = "25 m/s"
    up_to: UpToOption = "12 m/s^2"
    step: StepOption = "4 m/s^2"
    speeds: SpeedsOption = None
    lane_change: LaneOption = False
    turns: TurnsOption = True
    out: TurnsFileOption = None
    report: PageOption = None
    values: ValueOptions = ValueOptions()
    force: ForceOption = False
    verify: VerifyOption = True
    json: JsonOption = False


@option_rules(
    Rule("--out", not_with="--no-turns", why="the file holds the steady turns"),
    Rule("--up-to", not_with="--no-turns", why="it is where the steady turns end"),
    force_needs("--out", "--report"),
)
def handling(options: HandlingOptions) -> None:
    """Compute steady-state cornering up to the limit, understeer, characteristic speed, modes and step steer.

    Example: torseur handling library:car --steering steer --drive push --speed '90 km/h' --report car.html
    """
    from torseur.analysis.vehicles.handling import eigenvalues_over_speed, lane_change, step_steer
    from torseur.analysis.vehicles.handling import handling as of_vehicle
    from torseur.analysis.vehicles.steered_vehicle import vehicle
    from torseur.cli.shared.about_state import report_checks
    from torseur.cli.shared.console import print_json, progress, say, working
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.prepared_model import Work

    require_outputs(options.force, (options.out, (".csv",)), (options.report, (".html",)))
    speed, up_to, step = _speed("--speed", options.speed), _acceleration("--up-to", options.up_to), _acceleration(
        "--step", options.step)  # fmt: skip
    speeds = _speeds(options.speeds)
    work = Work.begin(options.source, options.values)
    car = vehicle(work.started, options.steering, options.drive, options.body, options.moving or ())
    given, name = dict(work.values.parameters), work.source.mechanism.name
    with working(f"{name}: straight running", quiet=options.json):
        run = of_vehicle(car, speed, given)
    turns = None
    if options.turns:
        from torseur.analysis.vehicles.cornering import steady_cornering

        with progress(f"{name}: steady turns", options.json) as follow:
            turns = steady_cornering(car, speed, up_to, given, progress=follow)
    with working(f"{name}: step steer", quiet=options.json):
        stepped = step_steer(run, step, parameters=given)
        lanes = lane_change(run, parameters=given) if options.lane_change else None
        roots = list(zip(speeds, eigenvalues_over_speed(car, speeds, given), strict=True)) if speeds else []
    if options.out is not None and turns is not None:
        _write_turns(turns, options.out)
    if options.report is not None:
        from torseur.presentation.report.vehicles.handling_page import write_handling_page

        command = f"torseur handling {options.source} --steering {options.steering}"
        command += f" --drive {options.drive}" if options.drive else ""
        write_handling_page(run, turns, stepped, lanes, roots, f"{command} --speed '{options.speed}'", options.report)
    checks = [*run.checks, *(turns.checks if turns is not None else ())] if options.verify else []
    if options.json:
        print_json(document(run, turns, stepped, lanes, roots) | {"checks": [check.to_dict() for check in checks]})
        report_checks(checks, json=True)
        return
    _show(run, turns, stepped, lanes)
    for speed_now, values in roots:
        say(f"at {speed_now:.4g} m/s the slowest roots are " + ",  ".join(f"{s:.4g}" for s in _slowest(values)))
    for path in (options.out, options.report):
        if path is not None:
            say(f"written: {path}")
    report_checks(checks, json=False)


def _slowest(values: tuple[complex, ...]) -> list[complex]:
    return sorted((s for s in values if s.imag >= 0), key=lambda s: -s.real)[:3]


def _speed(option: str, text: str) -> float:
    return _quantity(option, text, "m/s", "a speed, such as '25 m/s' or '90 km/h'")


def _acceleration(option: str, text: str) -> float:
    return _quantity(option, text, "m/s^2", "an acceleration, such as '4 m/s^2'")


def _quantity(option: str, text: str, unit: str, expected: str) -> float:
    from torseur.cli.shared.exits import USAGE, CommandError
    from torseur.description.language.formulas.quantities_with_units import quantity
    from torseur.description.mechanism.units import parse_unit

    value, given = quantity(text, option)
    if (given is not None and parse_unit(given)[1] != parse_unit(unit)[1]) or not value > 0:
        raise CommandError(f"{option} {text}: expected {expected}.", USAGE)
    return value


def _speeds(text: str | None) -> list[float]:
    from torseur.cli.shared.exits import USAGE, CommandError

    if text is None:
        return []
    low, dots, high = text.partition("..")
    try:
        first, last = float(low), float(high)
    except ValueError:
        first, last = 0.0, 0.0
    if not dots or not 0.0 < first < last:
        raise CommandError(f"--speeds {text}: expected two speeds in m/s that rise, such as 5..40.", USAGE)
    return [first + (last - first) * k / 14 for k in range(15)]


def _write_turns(turns: SteadyCornering, path: Path) -> None:
    from torseur.cli.shared.output_files import write_text
    from torseur.edges.plain_text import cell

    names = list(turns.turns[0].state)
    head = ["lateral acceleration [m/s^2]", "steering", "drive", "growth [1/s]", *map(cell, names)]
    rows = [",".join(head)]
    for t in turns.turns:
        numbers = [t.lateral_acceleration, t.steering, t.drive, t.growth, *(t.state[n] for n in names)]
        rows.append(",".join(map(repr, map(float, numbers))))
    write_text(path, "\n".join(rows))


def document(
    run: Handling, turns: SteadyCornering | None, stepped: StepSteer, lanes: LaneChange | None, roots: list[Any]
) -> dict[str, Any]:
    """What was found as plain data; complex numbers are pairs."""
    return {
        "speed": run.speed,
        "yaw_gain": run.gains.yaw_gain,
        "steering_per_acceleration": run.gains.steering_per_acceleration,
        "sideslip_per_acceleration": run.gains.sideslip_per_acceleration,
        "roll_per_acceleration": run.gains.roll_per_acceleration,
        "steered_length": run.steered_length,
        "understeer_gradient": run.understeer_gradient,
        "characteristic_speed": run.characteristic_speed,
        "critical_speed": run.critical_speed,
        "modes": [{"root": [m.eigenvalue.real, m.eigenvalue.imag], "moves": run.moves_in(m)} for m in run.modes],
        "turns": None if turns is None else [_turn(t) for t in turns.turns],
        "limit": None if turns is None else turns.limit,
        "ended": None if turns is None else turns.ended,
        "step": {name: stepped.characteristics(name) for name in stepped.curves},
        "step_angle": stepped.angle,
        "lane_change": None if lanes is None else _lane(lanes),
        "roots_over_speed": [{"speed": v, "roots": [[s.real, s.imag] for s in values]} for v, values in roots],
    }


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "lateral_acceleration": turn.lateral_acceleration, "steering": turn.steering, "drive": turn.drive,
        "growth": turn.growth, "stable": turn.is_stable, "state": dict(turn.state),
    }  # fmt: skip


def _lane(lanes: LaneChange) -> dict[str, float]:
    largest = {f"largest_{name.replace(' ', '_')}": float(abs(curve).max()) for name, curve in lanes.curves.items()
               if name not in ("way", "aside")}  # fmt: skip
    return {"largest_error": lanes.largest_error, "largest_steering": float(abs(lanes.steering).max()), **largest}


def summary_rows(run: Handling, turns: SteadyCornering | None) -> list[tuple[str, str, str]]:
    """Characteristics with their values and what they mean."""
    unit = str(run.vehicle.mechanism.parameter(run.vehicle.steering).symbol.data.unit)
    gains = run.gains
    rows = [
        ("yaw gain", f"{gains.yaw_gain:.6g} rad/s per {unit}", "yaw rate over steering, in a slight steady turn"),
        (
            "steering gradient",
            f"{gains.steering_per_acceleration:.6g} {unit} per m/s²",
            "steering over lateral acceleration",
        ),
        (
            "understeer gradient",
            f"{run.understeer_gradient:.6g} {unit} per m/s²",
            "its part that does not vary as 1/V²",
        ),
        (
            "steered length",
            f"{run.steered_length:.6g} m*{unit}",
            "wheelbase times ratio: steering over curvature at low speed",
        ),
        ("sideslip gradient", f"{gains.sideslip_per_acceleration:.6g} rad per m/s²", "at the mass centre"),
        ("roll gradient", f"{gains.roll_per_acceleration:.6g} rad per m/s²", "of the body"),
    ]
    if run.characteristic_speed is not None:
        rows.append(
            ("characteristic speed", f"{run.characteristic_speed:.6g} m/s", "of the largest yaw gain; understeer")
        )
    if run.critical_speed is not None:
        rows.append(("critical speed", f"{run.critical_speed:.6g} m/s", "unstable above it; oversteer"))
    if turns is not None:
        limit = "not reached" if turns.limit is None else f"{turns.limit:.6g} m/s²"
        rows.append(("limit", limit, f"largest lateral acceleration; {turns.ended}"))
        first = turns.first_unstable
        words = "none" if first is None else f"from {first.lateral_acceleration:.4g} m/s²"
        rows.append(("unstable turns", words, "with steering and drive held"))
    return rows


def _show(run: Handling, turns: SteadyCornering | None, stepped: StepSteer, lanes: LaneChange | None) -> None:
    from torseur.cli.shared.console import say, show_table

    name = run.vehicle.mechanism.name
    show_table(f"{name} at {run.speed:.4g} m/s", ["quantity", "value", "meaning"], summary_rows(run, turns), [])
    modes = [
        [f"{m.frequency:.4g}", f"{m.damping_ratio:.4g}", f"{m.eigenvalue.real:.4g}", ", ".join(run.moves_in(m))]
        for m in run.modes if m.eigenvalue.imag >= 0
    ]  # fmt: skip
    show_table("modes", ["Hz", "damping", "growth (1/s)", "moves"], modes, [0, 1, 2])
    if turns is not None:
        step = max(1, -(-len(turns.turns) // SHOWN))
        rows = [
            [f"{t.lateral_acceleration:.4g}", f"{t.steering:.6g}", f"{t.drive:.4g}", f"{t.growth:.4g}",
             "stable" if t.is_stable else "unstable"]
            for t in turns.turns[::step]
        ]  # fmt: skip
        show_table(
            "steady turns", ["m/s²", run.vehicle.steering, run.vehicle.drive, "growth (1/s)", ""], rows, [0, 1, 2, 3]
        )
    kinds = ("steady", "overshoot", "peak time", "response time", "settling time")
    rows = []
    for curve in stepped.curves:
        figures = stepped.characteristics(curve)
        rows.append([curve, *(f"{figures[kind]:.4g}" if kind in figures else "" for kind in kinds)])
    show_table(f"step steer by {stepped.angle:.4g}", ["", *kinds], rows, [1, 2, 3, 4, 5])
    if lanes is not None:
        figures = _lane(lanes)
        say(f"double lane change: {figures['largest_error']:.3g} m off the path, steering up to "
            f"{figures['largest_steering']:.3g}, {figures['largest_lateral_acceleration']:.3g} m/s².")  # fmt: skip
