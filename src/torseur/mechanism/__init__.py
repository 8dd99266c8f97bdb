"""What the user said: bodies, joints, loads, constraints and parameters, frozen and checked."""

from torseur.mechanism.bodies import Body, InertiaMatrix, body, implied_symbols, inertia
from torseur.mechanism.constraints import Constraint, Distance, Equation, Rolling
from torseur.mechanism.frames import EARTH, EARTH_NAME, HERE, Frame, Placement, Turn, placement, turn
from torseur.mechanism.joints import (
    ElementaryMotion,
    Joint,
    Speed,
    cylindrical,
    denavit_hartenberg,
    fixed,
    free,
    helical,
    planar,
    prismatic,
    revolute,
    rotation,
    sequence,
    spherical,
    translation,
    universal,
)
from torseur.mechanism.laws import Law, apply_laws, law
from torseur.mechanism.loads import (
    LENGTH,
    LENGTH_RATE,
    AppliedWrench,
    Bushing,
    CoordinateForce,
    CoordinateSpring,
    JointWrench,
    Load,
    PointSpring,
    bushing,
    coordinate_spring,
    force,
    motor,
    spring,
    torque,
)
from torseur.mechanism.mechanism import Mechanism
from torseur.mechanism.quantities import TIME, Coordinate, Parameter, Vector, as_vector
from torseur.mechanism.sensors import Sensor
from torseur.mechanism.solids import SHAPES, Solid, along, solid
from torseur.mechanism.speeds import body_rotation, body_speeds, body_velocity
from torseur.mechanism.units import in_si, parameter

__all__ = [
    "EARTH", "EARTH_NAME", "HERE", "LENGTH", "LENGTH_RATE", "SHAPES", "TIME", "AppliedWrench", "Body", "Bushing",
    "Constraint", "Coordinate", "CoordinateForce", "CoordinateSpring", "Distance", "ElementaryMotion", "Equation",
    "Frame", "InertiaMatrix", "Joint", "JointWrench", "Law", "Load", "Mechanism", "Parameter", "Placement",
    "PointSpring", "Rolling", "Sensor", "Solid", "Speed", "Turn", "Vector", "along", "apply_laws", "as_vector", "body",
    "body_rotation", "body_speeds", "body_velocity", "bushing", "coordinate_spring", "cylindrical", "denavit_hartenberg", "fixed", "force", "free", "helical", "implied_symbols", "in_si", "inertia",
    "law", "motor", "parameter", "placement", "planar", "prismatic", "revolute", "rotation", "sequence",
    "solid", "spherical", "spring", "torque", "translation", "turn", "universal",
]
