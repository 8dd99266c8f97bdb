"""Source files for use elsewhere, in the language a user asks for."""
