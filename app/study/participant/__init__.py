"""Studies with people: who does what in which order, and how it is judged."""
