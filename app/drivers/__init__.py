"""Serial lines to the controllers of real robots."""
