"""Options that say how a laboratory works: its markers, the part of the body they follow, what is held, the hips."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from torseur.cli.commands.analysis.recording import RecordingOptions, open_recording

if TYPE_CHECKING:
    from torseur.analysis.biomechanics.person import Protocol

MARKER_SET = (
    "Set of markers: human36, plug_in_gait_full, plug_in_gait_lower, helen_hayes, cast, cast_full, davis, hbm2, ior, "
    "isb_upper_limb, or a file of your own (.toml)."
)
BODY = (
    "Part of the body with markers: full, lower, lower_and_trunk, arms, right_leg, left_leg, right_arm or left_arm; "
    "the rest is held."
)
HOLD = "Coordinate held at a value, e.g. 'r_wrist_flexion=0 deg'. Repeatable."
HIP = "Hip joint centres: harrington, bell, hara or davis (regression), score (needs --functional), or model."
FUNCTIONAL = "Functional trial, in which the legs move in all directions, for --hip score."
WIDTH = "Measured width of a joint over the skin, e.g. 'knee=105 mm' (knee, ankle, elbow). Repeatable."
PROTOCOL = "Markers and body"


class ProtocolOptions(NamedTuple):
    """How a laboratory works."""

    marker_set: Annotated[
        str | None, typer.Option("--marker-set", metavar="NAME", help=MARKER_SET, rich_help_panel=PROTOCOL)
    ] = None
    body: Annotated[str | None, typer.Option("--body", metavar="PART", help=BODY, rich_help_panel=PROTOCOL)] = None
    hold: Annotated[
        list[str] | None, typer.Option("--hold", metavar="NAME=VALUE", help=HOLD, rich_help_panel=PROTOCOL)
    ] = None
    hip: Annotated[str | None, typer.Option("--hip", metavar="METHOD", help=HIP, rich_help_panel=PROTOCOL)] = None
    functional: Annotated[
        Path | None, typer.Option("--functional", metavar="FILE", help=FUNCTIONAL, rich_help_panel=PROTOCOL)
    ] = None
    width: Annotated[
        list[str] | None, typer.Option("--width", metavar="JOINT=LENGTH", help=WIDTH, rich_help_panel=PROTOCOL)
    ] = None


def read_protocol(options: ProtocolOptions, recording: RecordingOptions) -> Protocol:
    """The protocol that the options describe."""
    from dataclasses import replace

    from torseur.analysis.biomechanics.person import Protocol
    from torseur.analysis.biomechanics.person.model_axes import turn_to_model_axes
    from torseur.analysis.biomechanics.person_model.marker_sets import WIDTHS, body_coordinates, marker_set
    from torseur.cli.shared.exits import USAGE, CommandError

    if options.body:
        body_coordinates(options.body, ())
    chosen = marker_set(options.marker_set) if options.marker_set else None
    widths = dict(_pair("--width", text, "m", "'knee=105 mm'") for text in options.width or ())
    if unknown := sorted(set(widths) - set(WIDTHS)):
        raise CommandError(f"--width {unknown[0]}: the joints are {', '.join(WIDTHS)}.", USAGE)
    if widths:
        known = chosen or marker_set("human36")
        chosen = replace(known, widths={**known.widths, **widths})
    hold = dict(_pair("--hold", text, _unit(text), "'r_wrist_flexion=0 deg'") for text in options.hold or ())
    moving = None
    if options.functional is not None:
        moving = turn_to_model_axes(open_recording(options.functional, recording.points), chosen)[0].markers
    return Protocol(chosen or "", options.body or "", hold, options.hip or "", moving)


def _unit(text: str) -> str:
    return "m" if text.startswith(("pelvis_x", "pelvis_y", "pelvis_z")) else "rad"


def _pair(option: str, text: str, unit: str, example: str) -> tuple[str, float]:
    from torseur.cli.shared.exits import USAGE, CommandError
    from torseur.cli.shared.value_options import si_number

    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"{option} {text}: expected NAME=VALUE, such as {option} {example}.", USAGE)
    return name.strip(), si_number(f"{option} {name.strip()}", value, unit)
