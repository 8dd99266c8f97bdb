"""`torseur animate`: the motion as a film, a model that moves, or a still picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from torseur.cli.commands.presentation.report import ArrowsOption, LengthOption
from torseur.cli.shared.option_rules import Rule, option_rules
from torseur.cli.shared.options import ForceOption, JsonOption, SourceArgument, ValueOptions
from torseur.cli.shared.robot_options import RobotOptions, with_robot_options

FilmOption = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help="What to write: .mp4, .webm, .gif, .glb, or a still .png, .svg."),
]
WidthOption = Annotated[int, typer.Option("--width", min=64, max=4096, help="Width in pixels.")]
HeightOption = Annotated[int, typer.Option("--height", min=64, max=4096, help="Height in pixels.")]
RateOption = Annotated[float, typer.Option("--fps", min=1, max=60, help="Frames per second of the animation.")]
SpeedOption = Annotated[float, typer.Option("--speed", min=1e-6, help="Seconds of motion per second of animation.")]
InstantOption = Annotated[
    str | None, typer.Option("--at", metavar="T", help="Time of a still picture, e.g. '250 ms'; the start by default.")
]


_FILM, _STILL = "--out=*.mp4 --out=*.webm --out=*.gif", "--out=*.png --out=*.svg"


class AnimateOptions(NamedTuple):
    """Which motion is shown, how large and how fast, and where it goes."""

    source: SourceArgument
    out: FilmOption
    until: LengthOption = "10"
    at: InstantOption = None
    width: WidthOption = 960
    height: HeightOption = 600
    fps: RateOption = 25.0
    speed: SpeedOption = 1.0
    arrows: ArrowsOption = None
    values: ValueOptions = ValueOptions()
    robot: RobotOptions = RobotOptions()
    force: ForceOption = False
    json: JsonOption = False


@option_rules(
    Rule("--fps --speed", needs=_FILM, why="they say how a film runs"),
    Rule("--at", needs=_STILL, why="it is the instant of a still picture"),
    Rule("--until", not_with=_STILL, why="a still picture shows one instant, that of --at"),
    Rule("--width --height", not_with="--out=*.glb", why="a model has no pixels"),
    Rule("--arrows", not_with="--out=*.glb", why="a model holds bodies and what stretches between them"),
    Rule("--height", not_with="--out=*.svg", why="the height of the drawing follows from its width"),
)
def animate(options: AnimateOptions) -> None:
    """Write the motion as MP4, WebM, GIF or GLB (an animated 3D model), or one instant as PNG or SVG.

    Example: torseur animate library:double_pendulum -o motion.mp4
    """
    from dataclasses import replace

    from torseur.cli.shared.console import print_json, progress, say
    from torseur.cli.shared.output_files import require_outputs
    from torseur.cli.shared.prepared_model import Work, duration
    from torseur.presentation.scene.make_scene import Take, scene_of
    from torseur.presentation.scene.pictures.picture_files import FILMS, MODELS, STILLS, Shot, write_picture

    work = Work.begin(with_robot_options(options.source, options.robot), options.values)
    require_outputs(options.force, (options.out, (*FILMS, *MODELS, *STILLS)))
    at = None if options.at is None else duration(options.at, "--at")
    # Of a still's motion no end can be given; it is long enough for the instant and for the view, which sees it all.
    until = max(duration(options.until), at or 0.0)
    mechanism, robot = work.source.mechanism, work.source.robot
    subject = mechanism if robot is None else replace(robot, mechanism=mechanism)
    with progress(f"{mechanism.name}: {options.out.suffix[1:]}", quiet=options.json) as follow:
        take = Take(until, work.values.parameters, work.values.initial, tuple(options.arrows or ()))
        scene = scene_of(subject, None, take)
        shot = Shot(options.width, options.height, options.fps, options.speed, at, follow)
        write_picture(scene, options.out, shot)
    size = options.out.stat().st_size
    if options.json:
        print_json({"written": str(options.out), "bytes": size, "still": scene.reason})
        return
    note = f"still: {scene.reason}\n" if scene.reason else ""
    say(f"{note}written: {options.out} ({size / 1000:.0f} kB)")
