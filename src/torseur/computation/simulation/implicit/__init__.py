"""The implicit method for stiff systems: Radau IIA of order 5 and 9, with exact Jacobians."""
