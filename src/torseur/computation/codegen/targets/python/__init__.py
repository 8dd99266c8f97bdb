"""Programs and routines as Python."""
