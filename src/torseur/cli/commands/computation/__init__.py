"""Commands that compute motions, small motions and code."""
