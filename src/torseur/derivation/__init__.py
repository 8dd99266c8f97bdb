"""From a mechanism to its equations: tree, recursions, loops, formalisms."""
