"""Every point of a study, into a store, and what it says."""
