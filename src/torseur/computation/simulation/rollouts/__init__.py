"""Many motions at once on a GPU."""
