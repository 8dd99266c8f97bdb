"""How the names of files end that other programs wrote."""

ROBOT_SUFFIXES = (".urdf", ".xacro", ".xml", ".mjcf", ".sdf", ".world", ".osim")
"""Robot files; their root element tells the format."""
