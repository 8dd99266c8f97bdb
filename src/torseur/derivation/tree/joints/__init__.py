"""Kinematics of joints, from their elementary motions."""
