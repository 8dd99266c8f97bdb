"""SDF: the Simulation Description Format of Gazebo, a model or a world of models."""

from __future__ import annotations

from pathlib import Path

from torseur.description.readers.attribute_numbers import content_numbers
from torseur.description.readers.reading_ledger import Ledger
from torseur.description.readers.robot_assembly import AS_WRITTEN, FLOATING, Assembly, Options
from torseur.description.readers.robot_file import RobotFile
from torseur.description.readers.sdf.sdf_joints import read_joints
from torseur.description.readers.sdf.sdf_links import body_frame, lift_weightless, read_links
from torseur.description.readers.sdf.sdf_models import Library, Model, frames_of
from torseur.description.readers.transformations.rearrangement import float_base, hold_base
from torseur.description.readers.xml_document import Element

GRAVITY = (0.0, 0.0, -9.8)  # what SDFormat gives a world that says nothing
_SIMULATOR, _PICTURE = "settings of a simulator", "pictures are drawn without it"
# What it means for the mechanism that a part of the file is not modelled.
MEANINGS = {
    "plugin": "plugins are not run",
    "sensor": "sensors are not part of the motion",
    "physics": _SIMULATOR,
    "scene": _PICTURE,
    "gui": _PICTURE,
    "light": _PICTURE,
    "material": _PICTURE,
    "road": _PICTURE,
    "actor": "figures that follow a script",
    "population": "copies of models are not made",
    "surface": "contact is not modelled",
    "contact": "contact is not modelled",
    "self_collide": "contact is not modelled",
    "allow_auto_disable": _SIMULATOR,
    "spherical_coordinates": _SIMULATOR,
    "magnetic_field": _SIMULATOR,
    "atmosphere": _SIMULATOR,
    "wind": "there is no air",
    "enable_wind": "there is no air",
    "fluid_added_mass": "there is no fluid around the link",
    "velocity_decay": "speeds do not decay by themselves",
    "kinematic": "the link moves by its forces all the same",
    "gripper": "grasping is not modelled",
    "state": "a recorded state of the world",
    "stiffness": "no stop acts at limits",
    "dissipation": "no stop acts at limits",
    "battery": "batteries are not part of the motion",
}


def read_sdf(root: Element, options: Options, folder: Path, source: str) -> RobotFile:
    """The robot, or the robots of a world, that an <sdf> element describes."""
    root.used = True
    ledger = Ledger()
    models = Library(options, ledger).models_of(root, folder)
    if not models:
        raise root.fault("the file has no <model>.")
    assembly = Assembly(options, ledger)
    graph = frames_of(models)
    gravity = _gravity(root, ledger)
    read_links(models, graph, assembly)
    read_joints(models, graph, assembly)
    lift_weightless(models, graph, gravity, assembly)
    several = len({model.name.partition("::")[0] for model in models}) > 1
    for model in models:
        for element in model.parts("frame"):
            full = f"{model.name}::{element.text('name')}"
            name = full if several else full.partition("::")[2]
            assembly.frames[assembly.body_names.keep(name, "frame")] = body_frame(graph, full)
    if options.base != AS_WRITTEN:
        (float_base if options.base == FLOATING else hold_base)(assembly)
    ledger.unread(root, MEANINGS)
    return assembly.robot(_name(root, models, source), gravity, "sdf", source)


def _name(root: Element, models: list[Model], source: str) -> str:
    """The only model's name, or the world's."""
    tops = [model.name for model in models if "::" not in model.name]
    world = next((child.text("name") for child in root.children if child.tag == "world"), None)
    return tops[0] if len(tops) == 1 else world or Path(source).stem


def _gravity(root: Element, ledger: Ledger) -> tuple[float, ...]:
    world = root.first("world")
    if world is not None and any(child.tag == "gravity" for child in world.children):
        return content_numbers(world, "gravity", 3)
    ledger.note_assumption(f"the file gives no gravity: {-GRAVITY[2]} m/s^2 against the z axis, as SDF has it.")
    return GRAVITY


__all__ = ["GRAVITY", "read_sdf"]
