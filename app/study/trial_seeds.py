"""The seeds of a trial's parts: one root, and a child for each thing that is random.

Strategies are compared in pairs, so what is random must not depend on what is compared.
Each part draws from a generator of its own, by the slot of time (link), the number of
the move (operator) or of the measurement (sensors), never by the order of calls: a
strategy that sends or moves more often meets the same water, the same person and the
same sensors.
"""

from typing import NamedTuple

import numpy as np

__all__ = ["TrialSeeds"]


class TrialSeeds(NamedTuple):
    """One number for each part."""

    operator: int
    link_down: int
    link_up: int
    environment: int
    sensor: int

    @classmethod
    def of(cls, root: int) -> "TrialSeeds":
        """Derive all from a root, 0 or above, by `numpy.random.SeedSequence.spawn`."""
        children = np.random.SeedSequence(root).spawn(len(cls._fields))
        return cls(*(int(child.generate_state(1, np.uint64)[0]) for child in children))

    @classmethod
    def same(cls, seed: int) -> "TrialSeeds":
        """Give every part the same number, as a live session does."""
        return cls(*(seed for _ in cls._fields))
