"""Tangents and adjoints through events, jumps and contacts."""
