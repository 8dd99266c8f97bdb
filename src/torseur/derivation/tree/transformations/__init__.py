"""Maps from tree to tree that keep the dynamics and shorten the computation."""
