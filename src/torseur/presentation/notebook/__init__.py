"""What notebooks show of mechanisms, equations, motions and results."""
