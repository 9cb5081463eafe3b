"""Drawing fewer pixels when frames are dear, so that 50 Hz hold on any machine."""

from statistics import median

__all__ = ["AdaptiveResolution"]

_LEVELS = (1.0, 0.85, 0.7, 0.6, 0.5)
_WINDOW = 25  # frames between decisions: half a second
_FIRST_PIXELS = 1_000_000
_WORTHWHILE = 0.95  # of the cost before: above that, fewer pixels were no help
_RETRY = 40  # decisions, 20 s, before a level that was too dear is tried again


class AdaptiveResolution:
    """Chooses the share of the widget's pixels a side that are drawn."""

    def __init__(self, budget_ms: float = 16.0) -> None:
        """Keep the median cost of a frame below `budget_ms` [ms]."""
        self._budget_ms = budget_ms
        self._level = 0
        self._costs: list[float] = []
        self._sized = False
        self._ceiling = 0
        self._waited = 0
        self._patience = _RETRY
        self._cost_before: float | None = None
        self._level_before = 0
        self._pixels_are_cheap = False

    @property
    def scale(self) -> float:
        """Share of the pixels a side, 0.5..1."""
        return _LEVELS[self._level]

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Return the size to draw for a widget of this size [px]."""
        if not self._sized:
            self._sized = True
            while (
                self._level < len(_LEVELS) - 1
                and width * height * self.scale**2 > _FIRST_PIXELS
            ):
                self._level += 1
        return max(1, round(width * self.scale)), max(1, round(height * self.scale))

    def add(self, cost_ms: float) -> None:
        """Take the cost of one frame [ms] into account.

        A level that proved too dear is tried again after a while only, and each time
        after a longer one, so that the picture does not change back and forth. Where
        fewer pixels did not make frames cheaper, the pixels are given back for good.
        """
        self._costs.append(cost_ms)
        if len(self._costs) < _WINDOW:
            return
        typical = median(self._costs)
        self._costs.clear()
        if self._cost_before is not None:
            useless = typical > _WORTHWHILE * self._cost_before
            self._cost_before = None
            if useless:
                self._level = self._ceiling = self._level_before
                self._pixels_are_cheap = True
                return
        if typical > self._budget_ms and self._level < len(_LEVELS) - 1:
            if self._pixels_are_cheap:
                return
            self._cost_before, self._level_before = typical, self._level
            self._level += 1
            if self._waited:
                self._patience = min(2 * self._patience, 8 * _RETRY)
            self._ceiling = self._level
            self._waited = 0
            return
        self._waited += 1
        if self._waited >= self._patience:
            self._ceiling = 0
        if self._level > self._ceiling:
            finer = _LEVELS[self._level - 1]
            if typical * (finer / self.scale) ** 2 < 0.8 * self._budget_ms:
                self._level -= 1
