"""Everything that runs: link, robot side, operator side, station, scene and console."""
