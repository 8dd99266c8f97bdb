"""What a laboratory records: markers and force plates through time."""
