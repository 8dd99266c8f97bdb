"""Shapes of parts from what they are to do."""

from torseur.analysis.design.cam_profile import CamProfile, cam_profile

__all__ = ["CamProfile", "cam_profile"]
