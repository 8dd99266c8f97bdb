"""Second derivatives: forward over adjoint."""
