"""What a receiver remembers of each sender of setpoints, told apart by connection."""

from collections import OrderedDict

from app.link.bases import Bases
from app.link.counters import Counters

__all__ = ["GoalParts", "Sender", "Senders"]

_MOST_SENDERS = 16


class GoalParts:
    """Parts of one goal that came in compact frames."""

    def __init__(self, number: int, epoch: int) -> None:
        """Begin with none."""
        self.number = number
        self.epoch = epoch
        self.count = 0
        """How many make the goal; 0 = not known yet."""
        self.told: dict[int, tuple[int, int, bytes]] = {}
        """By part: stamp [ns], check bits, content."""


class Sender:
    """One sender of setpoints."""

    def __init__(self) -> None:
        self.counters = Counters()
        self.bases = Bases()
        self.period_ms = 0.0
        self.uplink_bps = 0.0
        self.compact_epoch = 0
        """Arming that its last compact announcement told; 0 = none."""
        self.compact_told_ns = 0
        """Stamp of that announcement [ns]."""
        self.goal = GoalParts(-1, 0)


class Senders:
    """The last 16 senders heard of."""

    def __init__(self) -> None:
        self._senders: OrderedDict[int, Sender] = OrderedDict()

    def find(self, number: int) -> Sender:
        """Return what is known of a sender, at first nothing; kept by `keep`."""
        return self._senders.get(number) or Sender()

    def keep(self, number: int, sender: Sender) -> None:
        """Remember a sender of whom an authentic frame came."""
        self._senders[number] = sender
        self._senders.move_to_end(number)
        while len(self._senders) > _MOST_SENDERS:
            self._senders.popitem(last=False)
