"""How bodies and joints are drawn and placed along a motion."""
