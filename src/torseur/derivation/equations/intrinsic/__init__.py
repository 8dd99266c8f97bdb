"""Balances of a mechanism in vectors without components."""
