"""The interactive picture of a mechanism inside a notebook."""

from __future__ import annotations

import html
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from torseur.computation.simulation import Trajectory
from torseur.description.mechanism import Mechanism
from torseur.description.readers import RobotFile
from torseur.presentation.report.page.report_content import ReportContent
from torseur.presentation.report.page.report_page import render
from torseur.presentation.scene.make_scene import Take, scene_of
from torseur.presentation.scene.pictures.poster import svg_picture
from torseur.presentation.scene.scene import Scene

HEIGHT = 480


def with_word_of_trust(contents: str) -> str:
    """HTML of a notebook with a word that only those see whose notebook has not been trusted.

    There drawings, formulas and frames are taken out, and styles too: that which hides the word. Styles hold for all
    notebooks that are open in a window, so that each word has a name of its own.
    """
    name = f"torseur-{zlib.crc32(contents.encode('utf-8', 'replace')):08x}"
    word = "Drawings and formulas are shown once the notebook is trusted or its cells have been run."
    return f'<style>.{name}{{display:none}}</style><p class="{name}">{word}</p>{contents}'


@dataclass(frozen=True, eq=False)
class Viewer:
    """A scene to turn, zoom and play, complete in itself: it works from a saved notebook without a network."""

    scene: Scene
    height: int = HEIGHT

    def __repr__(self) -> str:
        motion = self.scene.reason or f"{self.scene.motion.times[0]:.4g} to {self.scene.motion.times[-1]:.4g} s"
        return f"Viewer of '{self.scene.title}': {motion}"

    def page(self) -> str:
        """The picture as a page of its own."""
        scene = self.scene
        content = ReportContent(
            scene.title,
            bodies=scene.bodies,
            motion=scene.motion,
            elements=scene.elements,
            overlays=scene.overlays,
            view=scene.view,
            still=scene.reason,
            diagram=False,
            alone=True,
        )
        return render(content)

    def _repr_html_(self) -> str:
        return with_word_of_trust(self.frame())

    def frame(self) -> str:
        """The picture as a frame within another page."""
        # A frame of its own: neither its styles nor its scripts meet those of the notebook.
        frame = html.escape(self.page(), quote=True)
        style = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe srcdoc="{frame}" style="{style}" title="{html.escape(self.scene.title)}"></iframe>'

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_(), "image/svg+xml": svg_picture(self.scene)}


def view(
    subject: Mechanism | RobotFile,
    trajectory: Trajectory | None = None,
    *,
    take: Take | None = None,
    arrows: Sequence[str] = (),
    height: int = HEIGHT,
) -> Viewer:
    """The interactive picture of a mechanism or robot along its motion, for notebooks.

    Without a trajectory it moves as its description says, for `take.until` seconds. A robot of
    `ts.read_robot(path)` brings its shapes and meshes, which a mechanism of `ts.load(path)` has not. `arrows` are shown
    along the motion: "velocity" of mass centres, "force" of loads, "reaction" of joints, also with m per unit:
    "force=0.002".
    """
    shown = take or Take()
    return Viewer(scene_of(subject, trajectory, replace(shown, arrows=(*shown.arrows, *arrows))), height)
