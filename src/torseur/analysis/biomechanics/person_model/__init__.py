"""The model of a person and the tables it is scaled by."""
