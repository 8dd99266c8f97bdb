"""Programs as JAX."""
