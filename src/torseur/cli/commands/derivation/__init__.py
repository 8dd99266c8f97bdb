"""Commands on equations and loops."""
