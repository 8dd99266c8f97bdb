"""From Mechanism to text."""
