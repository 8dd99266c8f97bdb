"""The integration loop: written once for all methods, run whole in compiled code."""
