"""What is guessed of bodies that nobody has drawn: rods, masses, rails, gears and ropes."""
