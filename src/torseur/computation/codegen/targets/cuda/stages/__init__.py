"""A program cut into stages that a thread can hold in its registers."""
