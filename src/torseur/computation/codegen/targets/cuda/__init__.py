"""Programs as CUDA C++: one thread per state, struct of arrays."""
