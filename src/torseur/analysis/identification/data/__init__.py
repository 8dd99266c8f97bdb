"""Recorded channels to trials of a mechanism."""
