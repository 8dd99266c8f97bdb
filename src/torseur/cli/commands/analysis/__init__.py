"""Commands that ask questions about motions and recordings."""
