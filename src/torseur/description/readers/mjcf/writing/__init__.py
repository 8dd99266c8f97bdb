"""From a mechanism to an MJCF file."""
