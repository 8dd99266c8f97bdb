"""Programs as C over batches of states: a vector of states per value."""
