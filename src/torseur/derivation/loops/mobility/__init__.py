"""How many motions loops leave free, and which."""
