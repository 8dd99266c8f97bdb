"""What a study varies and asks for, from its file."""
