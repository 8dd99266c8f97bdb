"""Sensitivities as people read them: tables, curves, files, and whether to trust them."""
