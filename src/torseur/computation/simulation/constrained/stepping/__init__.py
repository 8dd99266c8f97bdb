"""Motions with contact and friction in time steps of fixed length."""
