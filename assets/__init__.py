"""Package data: robots, links and images, found through importlib.resources."""
