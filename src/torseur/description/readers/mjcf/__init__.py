"""MJCF: the model files of MuJoCo."""

from __future__ import annotations

from pathlib import Path

from torseur.description.readers.mjcf.elements.mjcf_actuators import read_actuators
from torseur.description.readers.mjcf.elements.mjcf_bodies import read_bodies
from torseur.description.readers.mjcf.elements.mjcf_equality import read_equalities
from torseur.description.readers.mjcf.elements.mjcf_keyframes import read_keyframe
from torseur.description.readers.mjcf.elements.mjcf_tendons import read_tendons
from torseur.description.readers.mjcf.mjcf_assets import read_assets
from torseur.description.readers.mjcf.mjcf_attachments import expand_attachments
from torseur.description.readers.mjcf.mjcf_defaults import read_defaults
from torseur.description.readers.mjcf.mjcf_includes import expand_includes
from torseur.description.readers.mjcf.mjcf_meanings import BODIES_MISSING, MEANINGS
from torseur.description.readers.mjcf.mjcf_replicas import expand_replicas
from torseur.description.readers.mjcf.mjcf_scene import Scene
from torseur.description.readers.mjcf.mjcf_settings import read_settings
from torseur.description.readers.reading_ledger import Ledger
from torseur.description.readers.robot_assembly import AS_WRITTEN, FLOATING, Assembly, Options
from torseur.description.readers.robot_file import RobotFile
from torseur.description.readers.transformations.rearrangement import float_base, hold_base
from torseur.description.readers.xml_document import Element
from torseur.errors import counted


def read_mjcf(root: Element, options: Options, folder: Path, source: str) -> RobotFile:
    """The robot that a <mujoco> element describes."""
    root.used = True
    expand_includes(root, folder)
    settings = read_settings(root)
    attachments = expand_attachments(root, settings, folder, partial=options.partial)
    expand_replicas(root, settings)
    assembly = Assembly(options, Ledger())
    for note, element in attachments.notes:
        assembly.ledger.note_unmodelled(note, element)
    defaults = read_defaults(root, attachments.defaults)
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
    _require_all_bodies(root, options)
    return assembly.robot(name, settings.gravity, "mjcf", source)


def _require_all_bodies(root: Element, options: Options) -> None:
    """Refuses a model of which bodies are missing, unless the user accepts that."""
    missing = [element for element in root.walk() if element.tag in BODIES_MISSING and not element.used]
    if missing and not options.partial:
        raise missing[0].fault(
            f"<{missing[0].tag}> holds bodies that are not read ({counted(len(missing), 'such element')}), so that the "
            "robot would lose degrees of freedom. To read the rest: partial=True, in a name '?partial', or --partial."
        )


__all__ = ["read_mjcf"]
