"""Ground reactions and joint moments."""
