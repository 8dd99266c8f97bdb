"""Sensitivities of steady states, eigenvalues and frequency responses."""
