"""What varies in a model, and how its equations and its start depend on it."""
