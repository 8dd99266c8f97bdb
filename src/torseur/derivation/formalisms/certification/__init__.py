"""Every formalism against every other, at states where nothing can hide."""
