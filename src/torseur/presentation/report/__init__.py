"""The HTML report: one self-contained page of equations, plots and an animation (see `page` and `content`)."""
