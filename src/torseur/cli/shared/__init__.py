"""What several commands share: options, values, messages, exits."""
