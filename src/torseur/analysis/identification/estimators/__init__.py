"""Parameters from an overdetermined system: least squares, semidefinite, log-Cholesky."""
