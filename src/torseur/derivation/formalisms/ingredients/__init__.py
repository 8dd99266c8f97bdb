"""What several formalisms are made of: placements, rates, energies, loads."""
