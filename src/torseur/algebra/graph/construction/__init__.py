"""How nodes are made: exact folds, the order among operands, and nodes from their packed rows."""
