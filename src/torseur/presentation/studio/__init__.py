"""The studio: a local page on which a mechanism is written, seen, moved and examined."""
