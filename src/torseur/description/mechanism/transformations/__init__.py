"""From a mechanism to another one: coordinates given by formulas, mirror images, instances of parts."""
