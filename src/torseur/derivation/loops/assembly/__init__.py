"""Closed configurations from rough ones."""
