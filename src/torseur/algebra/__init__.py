"""The mathematics below everything: scalar expressions, and the vectors of rigid-body mechanics."""
