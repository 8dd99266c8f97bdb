"""A limb's motion and inertia in one fit."""
