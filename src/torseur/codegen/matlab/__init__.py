"""Programs as MATLAB."""
