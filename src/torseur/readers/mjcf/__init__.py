"""MJCF: the model files of MuJoCo."""

from __future__ import annotations

from pathlib import Path

from torseur.readers.assembly import Assembly
from torseur.readers.document import Element
from torseur.readers.ledger import Ledger
from torseur.readers.mjcf.actuators import read_actuators
from torseur.readers.mjcf.assets import read_assets
from torseur.readers.mjcf.bodies import read_bodies
from torseur.readers.mjcf.defaults import read_defaults
from torseur.readers.mjcf.equality import read_equalities
from torseur.readers.mjcf.includes import expand_includes
from torseur.readers.mjcf.keyframes import read_keyframe
from torseur.readers.mjcf.meanings import MEANINGS
from torseur.readers.mjcf.scene import Scene
from torseur.readers.mjcf.settings import read_settings
from torseur.readers.mjcf.tendons import read_tendons
from torseur.readers.options import AS_WRITTEN, FLOATING, Options
from torseur.readers.rearranging import float_base, hold_base
from torseur.readers.robot_file import RobotFile


def read_mjcf(root: Element, options: Options, folder: Path, source: str) -> RobotFile:
    """The robot that a <mujoco> element describes."""
    root.used = True
    expand_includes(root, folder)
    settings = read_settings(root)
    assembly = Assembly(options, Ledger())
    defaults = read_defaults(root)
    scene = Scene(settings, defaults, read_assets(root, settings, defaults, folder), assembly)
    read_bodies(root, scene)
    read_tendons(root, scene)
    read_equalities(root, scene)
    read_actuators(root, scene)
    read_keyframe(root, scene)
    if options.base != AS_WRITTEN:
        (float_base if options.base == FLOATING else hold_base)(assembly)
    name = root.text("model") or Path(source).stem
    defaults.forget_idle()
    assembly.ledger.unread(root, MEANINGS)
    return assembly.robot(name, settings.gravity, "mjcf", source)


__all__ = ["read_mjcf"]
