"""Estimates with their uncertainty, in words, and back in the description."""
