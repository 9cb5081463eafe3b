"""Factorial studies: many trials in virtual time, paired by seed, kept as they end."""
