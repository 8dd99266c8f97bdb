"""What vehicle engineers ask of a mechanism: steady cornering, handling, curves of suspensions, roads."""

from torseur.analysis.vehicles.cornering import SteadyCornering, Turn, steady_cornering, straight_running
from torseur.analysis.vehicles.handling import (
    Gains,
    Handling,
    LaneChange,
    StepSteer,
    eigenvalues_over_speed,
    handling,
    lane_change,
    step_steer,
)
from torseur.analysis.vehicles.hardpoints import BestSuspension, optimise_suspension
from torseur.analysis.vehicles.roads import Road, road_profile
from torseur.analysis.vehicles.steered_vehicle import Vehicle, vehicle
from torseur.analysis.vehicles.suspension_curves import Curves, steering_curves, suspension_curves
from torseur.analysis.vehicles.wheel_travel import Suspension
from torseur.edges.arguments import explain_names

__all__ = [
    "BestSuspension",
    "Curves",
    "Gains",
    "Handling",
    "LaneChange",
    "Road",
    "SteadyCornering",
    "StepSteer",
    "Suspension",
    "Turn",
    "Vehicle",
    "eigenvalues_over_speed",
    "handling",
    "lane_change",
    "optimise_suspension",
    "road_profile",
    "steady_cornering",
    "steering_curves",
    "step_steer",
    "straight_running",
    "suspension_curves",
    "vehicle",
]

explain_names(globals())
