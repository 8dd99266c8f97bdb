"""Programs as C++."""
