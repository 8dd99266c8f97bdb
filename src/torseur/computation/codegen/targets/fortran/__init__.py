"""Programs as Fortran."""
