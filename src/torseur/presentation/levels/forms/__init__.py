"""Other forms of the equations of motion than the four levels: one file per form."""
