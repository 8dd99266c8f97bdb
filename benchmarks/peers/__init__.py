"""Other programs that compute the same, timed in this process. What is not installed is left out, and said."""
