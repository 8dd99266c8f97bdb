"""A mechanism as the integrators take it: y' = f(t, y), its programs and its start."""
