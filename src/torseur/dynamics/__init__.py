"""Recursive dynamics of trees, one algorithm per file, for any scalar."""

from torseur.dynamics.coriolis import coriolis_matrix
from torseur.dynamics.energy import gravity_energy, kinetic_energy
from torseur.dynamics.forward_dynamics import forward_dynamics
from torseur.dynamics.inverse_dynamics import bias, gravity_forces, inverse_dynamics
from torseur.dynamics.kinematics import (
    acceleration,
    in_earth_axes,
    jacobian,
    link_poses,
    link_velocities,
    mass_centre,
    pose,
    velocity,
)
from torseur.dynamics.loads import elastic_energy, generalised_loads, load_sum
from torseur.dynamics.mass_matrix import mass_matrix
from torseur.dynamics.mass_matrix_factors import mass_matrix_factors
from torseur.dynamics.momentum import centroidal_momentum, momentum, momentum_matrix
from torseur.dynamics.regressor import regressor
from torseur.dynamics.sensors import sensor_value

__all__ = [
    "acceleration",
    "bias",
    "centroidal_momentum",
    "coriolis_matrix",
    "elastic_energy",
    "forward_dynamics",
    "generalised_loads",
    "gravity_energy",
    "gravity_forces",
    "in_earth_axes",
    "inverse_dynamics",
    "jacobian",
    "kinetic_energy",
    "link_poses",
    "link_velocities",
    "load_sum",
    "mass_centre",
    "mass_matrix",
    "mass_matrix_factors",
    "momentum",
    "momentum_matrix",
    "pose",
    "regressor",
    "sensor_value",
    "velocity",
]
