"""The best parameters of a study."""
