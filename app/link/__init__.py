"""What crosses the water: frames, the emulated channel, pacing, health, sockets."""
