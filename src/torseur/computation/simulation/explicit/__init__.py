"""The explicit method: Dormand and Prince, order 8(5,3), and its step control."""
