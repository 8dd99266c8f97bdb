"""What vehicle engineers ask of a mechanism: steady cornering, handling, curves of suspensions, roads."""
