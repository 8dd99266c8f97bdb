"""Actuated mechanisms: what inputs move, where they lose or gain motions, and over which workspace."""
