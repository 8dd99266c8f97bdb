"""What the shapes of a robot file weigh, and where they touch the ground."""
