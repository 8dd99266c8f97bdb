"""Elements beyond mechanics, made of states, loads and sensors: drives, muscles, controllers, filters, lines."""

from torseur.description.elements.drives import GearedMotor, OilChambers, dc_motor, hydraulic_cylinder
from torseur.description.elements.element import Element, with_elements
from torseur.description.elements.lines import Line, Wrap, cylinder_wrap, line, sphere_wrap
from torseur.description.elements.muscles import (
    Muscle,
    active_force,
    force_at_speed,
    hill_muscle,
    passive_force,
)
from torseur.description.elements.signals import first_order_filter, pade_delay, pid, second_order_filter

__all__ = [
    "Element",
    "GearedMotor",
    "Line",
    "Muscle",
    "OilChambers",
    "Wrap",
    "active_force",
    "cylinder_wrap",
    "dc_motor",
    "first_order_filter",
    "force_at_speed",
    "hill_muscle",
    "hydraulic_cylinder",
    "line",
    "pade_delay",
    "passive_force",
    "pid",
    "second_order_filter",
    "sphere_wrap",
    "with_elements",
]
