"""The robot's side: bridge, safety, simulated plant, and the process that runs them."""
