"""Events: where a function changes sign, steps that end there, and jumps of the state."""
