"""The state in which a constrained motion starts, and what is doubtful about it."""
