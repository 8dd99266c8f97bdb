"""Programs and routines compiled, linked and called with arrays."""
