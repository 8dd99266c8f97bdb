"""What a motion leaves: trajectory, files, and the reason where it could not go on."""
