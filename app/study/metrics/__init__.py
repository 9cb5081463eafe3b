"""What a trial came to, in figures: one module a family, each with its definitions."""
