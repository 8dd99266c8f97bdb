"""Makes the moving pictures of the gallery, as small WebP files: python docs/make_animations.py [NAME ...]"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageSequence

import torseur as ts

PICTURES = Path(__file__).resolve().parent / "pictures"
WIDTH, HEIGHT, FRAMES_PER_SECOND, QUALITY = 320, 240, 15, 60

# Length of the motion and of the picture, in seconds.
SHOWN = {
    "double_pendulum": (8.0, 6.0),
    "slider_crank": (4.0, 4.0),
    "spinning_top": (3.0, 4.0),
    "free_body": (20.0, 5.0),
    "jansen_leg": (2.0, 4.0),
    "flyball_governor": (4.0, 4.0),
    "antenna_satellite": (20.0, 5.0),
    "ball_on_turntable": (11.0, 5.0),
    "whipple_bicycle": (3.0, 3.0),
    "quadruped": (2.0, 4.0),
}


def moving_picture(name: str) -> Path:
    """The animation of a library mechanism as a WebP file."""
    until, shown = SHOWN[name]
    with tempfile.TemporaryDirectory() as folder:
        film = Path(folder) / "film.gif"
        shot = ts.Shot(WIDTH, HEIGHT, FRAMES_PER_SECOND, speed=until / shown)
        ts.animate(ts.library.load(name), film, take=ts.Take(until), shot=shot)
        with Image.open(film) as frames:
            first, *others = [frame.convert("RGB") for frame in ImageSequence.Iterator(frames)]
    target = PICTURES / f"{name}.webp"
    first.save(
        target,
        save_all=True,
        append_images=others,
        duration=round(1000 / FRAMES_PER_SECOND),
        loop=0,
        quality=QUALITY,
        method=6,
    )
    print(f"{target.relative_to(PICTURES.parent)}: {target.stat().st_size // 1000} kB")
    return target


if __name__ == "__main__":
    for one in sys.argv[1:] or SHOWN:
        moving_picture(one)
