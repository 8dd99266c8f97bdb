"""Commands on descriptions."""
