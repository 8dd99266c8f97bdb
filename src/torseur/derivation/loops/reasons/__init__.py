"""Why loops are redundant: groups of motions, symmetries, known families of linkages."""
