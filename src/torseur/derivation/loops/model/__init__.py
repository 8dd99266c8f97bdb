"""A mechanism as the loop analysis sees it: joints as steps between bodies, in numbers."""
