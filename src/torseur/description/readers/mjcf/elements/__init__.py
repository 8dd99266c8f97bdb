"""The elements of an MJCF model, each read by a module of its own."""
