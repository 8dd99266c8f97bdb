"""Motions on the GPU, one in each thread."""
