"""Pages of a person's trial, a limb and an identification."""
