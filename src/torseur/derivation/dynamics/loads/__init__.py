"""Loads and sensors at a state, from the frames they refer to."""
