"""A scene written to a file: a still picture, an animation, or a 3D model, by the file's ending."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from torseur.errors import TorseurError, UnsupportedError, list_names
from torseur.extras import install_command
from torseur.presentation.scene.pictures.glb import glb_file
from torseur.presentation.scene.pictures.poster import svg_picture
from torseur.presentation.scene.pictures.rendering import Renderer
from torseur.presentation.scene.scene import Scene

if TYPE_CHECKING:
    from PIL.Image import Image

STILLS, FILMS, MODELS = (".png", ".svg"), (".mp4", ".webm", ".gif"), (".glb",)
CODECS = {".mp4": "libx264", ".webm": "libvpx-vp9"}
MOST_FRAMES = 3000


@dataclass(frozen=True)
class Shot:
    """How a scene is taken: pixels, frames per second, seconds of motion per second of film, the instant of a still."""

    width: int = 960
    height: int = 600
    frames_per_second: float = 25.0
    speed: float = 1.0
    at: float | None = None
    progress: Callable[[float], None] | None = None


def write_picture(scene: Scene, path: str | Path, shot: Shot | None = None) -> Path:
    """Writes PNG or SVG (a still), MP4, WebM or GIF (an animation) or GLB (a model that moves), and returns where."""
    target, taken = Path(path), shot or Shot()
    ending = target.suffix.lower()
    if ending not in (*STILLS, *FILMS, *MODELS):
        known = list_names([*STILLS, *FILMS, *MODELS])
        raise TorseurError(f"'{target.name}': a picture is written as {known}, not as '{ending}'.")
    if not target.parent.is_dir():
        raise TorseurError(f"the folder '{target.parent}' does not exist; create it first.")
    if ending in FILMS and scene.is_still:
        raise TorseurError(f"there is nothing to animate. {scene.reason} A still picture is written as .png or .svg.")
    if taken.at is not None and not scene.is_still:
        _require_instant(scene, taken.at)
    if ending == ".svg":
        target.write_text(svg_picture(scene, taken.at, taken.width), encoding="utf-8")
    elif ending == ".glb":
        target.write_bytes(glb_file(scene))
    elif ending == ".png":
        start = float(scene.motion.times[0] if taken.at is None else taken.at)
        Renderer(scene, taken.width, taken.height, start).frame(start).save(target)
    elif ending == ".gif":
        _write_gif(list(_frames(scene, taken)), target, taken)
    else:
        _write_film(scene, target, taken)
    return target


def _require_instant(scene: Scene, at: float) -> None:
    """A still of another instant than the one asked for would be a wrong picture."""
    first, last = float(scene.motion.times[0]), float(scene.motion.times[-1])
    slack = 1e-9 * max(abs(first), abs(last))
    if not first - slack <= at <= last + slack:
        raise TorseurError(f"there is no picture at {at:g} s: the motion lasts from {first:g} s to {last:g} s.")


def _times(scene: Scene, shot: Shot) -> np.ndarray:
    first, last = float(scene.motion.times[0]), float(scene.motion.times[-1])
    count = max(2, round((last - first) / shot.speed * shot.frames_per_second))
    if count > MOST_FRAMES:
        advice = "take a shorter motion, a higher speed or fewer frames a second"
        raise TorseurError(f"{count} frames are more than {MOST_FRAMES}: {advice}.")
    return np.linspace(first, last, count)


def _frames(scene: Scene, shot: Shot) -> Iterator[Image]:
    renderer, times = Renderer(scene, shot.width, shot.height), _times(scene, shot)
    for k, time in enumerate(times):
        yield renderer.frame(float(time))
        if shot.progress is not None:
            shot.progress((k + 1) / len(times))


def _write_gif(frames: list[Image], target: Path, shot: Shot) -> None:
    # GIF counts hundredths of a second, and viewers slow down what is faster than 50 frames a second.
    duration = max(20, 10 * round(100 / shot.frames_per_second))
    from PIL import Image as images

    opaque = [frame.convert("RGB") for frame in frames]
    palette = _palette(opaque)
    # Dots that change from frame to frame would flicker.
    reduced = [frame.quantize(palette=palette, dither=images.Dither.NONE) for frame in opaque]
    reduced[0].save(target, save_all=True, append_images=reduced[1:], duration=duration, loop=0, optimize=False)


def _palette(frames: list[Image]) -> Image:
    """Colours for all frames of a GIF: half of them for the shades that fill most of it, half for the range of hues.

    By the number of pixels alone the background takes every colour, and small bodies lose their own.
    """
    from PIL import Image as images

    shown = frames[:: max(1, len(frames) // 6)]
    width, height = shown[0].size
    strip = images.new("RGB", (width, height * len(shown)))
    for place, frame in enumerate(shown):
        strip.paste(frame, (0, place * height))
    colours: list[int] = []
    for method in (images.Quantize.MEDIANCUT, images.Quantize.MAXCOVERAGE):
        colours += (strip.quantize(colors=128, method=method).getpalette() or [])[: 128 * 3]
    palette = images.new("P", (1, 1))
    palette.putpalette(colours)
    return palette


def _write_film(scene: Scene, target: Path, shot: Shot) -> None:
    try:
        import imageio_ffmpeg  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise UnsupportedError(
            f"{target.suffix} needs imageio-ffmpeg; GIF and GLB go without. Install it: {install_command('pictures')}"
        ) from None
    # Codecs halve colours each way, so that both sides must be even.
    size = (shot.width - shot.width % 2, shot.height - shot.height % 2)
    options = ["-crf", "20"] + (["-movflags", "+faststart"] if target.suffix.lower() == ".mp4" else ["-b:v", "0"])
    writer = imageio_ffmpeg.write_frames(
        str(target), size, fps=shot.frames_per_second, codec=CODECS[target.suffix.lower()], macro_block_size=2,
        output_params=options, ffmpeg_log_level="error",
    )  # fmt: skip
    writer.send(None)
    for frame in _frames(scene, shot):
        writer.send(np.ascontiguousarray(np.asarray(frame.convert("RGB"))[: size[1], : size[0]]))
    writer.close()
