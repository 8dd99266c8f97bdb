"""The edges: disks, memory, processes and texts that are not in our hands."""
