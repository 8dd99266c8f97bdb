"""Recursive dynamics of trees, one algorithm per file, for any scalar."""

from torseur.derivation.dynamics.coriolis import coriolis_matrix
from torseur.derivation.dynamics.energy_and_momentum import (
    centroidal_momentum,
    gravity_energy,
    kinetic_energy,
    momentum,
    momentum_matrix,
)
from torseur.derivation.dynamics.forward_dynamics import forward_dynamics
from torseur.derivation.dynamics.inverse_dynamics import bias, gravity_forces, inverse_dynamics
from torseur.derivation.dynamics.kinematics import (
    acceleration,
    earth_jacobian,
    in_earth_axes,
    jacobian,
    link_poses,
    link_velocities,
    mass_centre,
    pose,
    velocity,
)
from torseur.derivation.dynamics.loads.load_wrenches import elastic_energy, generalised_loads, load_sum
from torseur.derivation.dynamics.loads.sensor_values import coordinate_rates, coupled_rates, sensor_value
from torseur.derivation.dynamics.mass_matrix import mass_matrix
from torseur.derivation.dynamics.mass_matrix_factors import inertias_of_joints, mass_matrix_factors
from torseur.derivation.dynamics.regressor import regressor

__all__ = [
    "acceleration",
    "bias",
    "centroidal_momentum",
    "coordinate_rates",
    "coriolis_matrix",
    "coupled_rates",
    "earth_jacobian",
    "elastic_energy",
    "forward_dynamics",
    "generalised_loads",
    "gravity_energy",
    "gravity_forces",
    "in_earth_axes",
    "inertias_of_joints",
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
