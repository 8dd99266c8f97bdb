"""From the statements of a text to the parts of a mechanism."""
