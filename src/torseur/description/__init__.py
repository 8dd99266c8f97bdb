"""What a user says: mechanisms in Python, in text, in robot files, and ready ones."""
