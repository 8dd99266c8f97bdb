"""From text to statements: tokens, grammar, syntax nodes."""
