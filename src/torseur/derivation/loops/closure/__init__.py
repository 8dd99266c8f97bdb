"""What joints and constraints forbid, as equations."""
