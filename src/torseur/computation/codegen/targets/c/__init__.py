"""Programs and routines as C."""
