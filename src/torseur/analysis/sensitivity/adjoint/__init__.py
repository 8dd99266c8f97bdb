"""Adjoint methods: discrete, through the steps of the motion, and continuous."""
