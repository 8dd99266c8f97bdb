"""A robot as an object: kinematics and dynamics as compiled functions of arrays."""

from torseur.analysis.robotics.robot import Robot

__all__ = ["Robot"]
