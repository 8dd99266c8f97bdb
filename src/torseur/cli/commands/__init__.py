"""The commands, one file each, by storey."""
