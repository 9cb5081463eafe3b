"""What the present link allows of each strategy, judged anew when it changes."""

import math
from dataclasses import replace
from typing import NamedTuple

from app.clock import NS_PER_MS, MonotonicClock
from app.config.link import LinkParameters, link_names, load_link
from app.config.teleop import TeleopParameters
from app.console.readings import StationReadings
from app.link.frame import Codec
from app.link.planner import plan_link
from app.messages import LinkHealth
from app.teleop.feasibility import Verdict, judge_strategy
from app.teleop.strategy import Strategy
from app.teleop.traffic import LinkFigures, figures_of
from models.robot import RobotModel

__all__ = ["LinkVerdict", "LinkVerdicts", "present_figures"]


class LinkVerdict(NamedTuple):
    """A verdict: its word, how loud it is (0 unknown .. 3 does not fit), and why."""

    word: str
    loudness: int
    why: str


_UNKNOWN = LinkVerdict("unknown", 0, "The link's figures are not known yet.")
_LOUDNESS = {Verdict.FITS: 1, Verdict.DEGRADED: 2, Verdict.UNFIT: 3}
_MTU = 1500
_BY_COST = tuple(reversed(Strategy))  # those with a limit of delay come last
_PATIENCE_NS = 2 * NS_PER_MS  # of a frame of 20 ms
_CLOCK = MonotonicClock()


def present_figures(
    health: LinkHealth, preset: LinkParameters | None
) -> LinkFigures | None:
    """Take the figures of the link as it is now.

    Where the emulator answers they are its settings in force; else the delay is half
    the round trip. What neither tells is as the preset says.

    Args:
        health: the link thread's newest report.
        preset: that it names; None for a file of the user's own.

    Returns:
        The figures; None where nothing tells the bit rate.
    """
    bps = float(health.bandwidth_bps[0])
    if not bps > 0.0:
        return None
    delay = 1e-3 * float(health.delay_ms[0])
    if not health.emulator_present[0] and float(health.rtt_ms[0]) > 0.0:
        delay = 0.5e-3 * float(health.rtt_ms[0])
    jitter, loss = 1e-3 * float(health.jitter_ms[0]), float(health.loss_set[0])
    if preset is None:
        return LinkFigures(delay, delay, bps, bps, jitter=jitter, loss=loss)
    usual = figures_of(preset)
    share = usual.down_bps / preset.down_bps
    changed = not math.isclose(bps, preset.down_bps, rel_tol=1e-6)
    return replace(
        usual,
        down=delay,
        up=delay,
        down_bps=share * bps,
        up_bps=share * bps if changed else usual.up_bps,
        jitter=jitter,
        loss=usual.loss if loss == preset.loss.residual else max(loss, usual.loss),
    )


class LinkVerdicts:
    """The verdicts of all strategies on the present link."""

    def __init__(self, model: RobotModel, parameters: TeleopParameters) -> None:
        """Know nothing of a link yet.

        Args:
            model: the robot, whose frames are sent.
            parameters: of the strategies.
        """
        self._model = model
        self._parameters = parameters
        self._names = link_names()
        self._preset: tuple[int, LinkParameters | None, tuple[int, int] | None] = (
            *(-1, None),
            None,
        )
        self._figures: LinkFigures | None = None
        self._judged: dict[Strategy, tuple[LinkFigures | None, LinkVerdict]] = {}

    def of(self, strategy: Strategy) -> LinkVerdict:
        """Return the newest verdict of a strategy there is."""
        return self._judged.get(strategy, (None, _UNKNOWN))[1]

    @property
    def all(self) -> dict[Strategy, LinkVerdict]:
        """The verdicts by strategy."""
        return {strategy: self.of(strategy) for strategy in Strategy}

    def refresh(self, readings: StationReadings, first: Strategy) -> None:
        """Judge what was judged on other figures; what takes too long waits its turn.

        Args:
            readings: the newest readings; a station that is silent changes nothing.
            first: judged before the others.
        """
        if not (readings.is_alive and readings.is_link_alive):
            return
        until_ns = _CLOCK.now_ns() + _PATIENCE_NS
        self._follow_preset(int(readings.health.preset[0]))
        self._figures = present_figures(readings.health, self._preset[1])
        for strategy in (first, *_BY_COST):
            if self._is_stale(strategy):
                self.judge(strategy)
                if _CLOCK.now_ns() > until_ns:
                    return

    def _is_stale(self, strategy: Strategy) -> bool:
        return (
            strategy not in self._judged or self._judged[strategy][0] != self._figures
        )

    def judge(self, strategy: Strategy) -> LinkVerdict:
        """Return the verdict of a strategy on the newest figures, judged now."""
        if self._is_stale(strategy):
            verdict = _UNKNOWN
            if self._figures is not None:
                judged = judge_strategy(
                    strategy, self._figures, self._parameters, self._preset[2]
                )
                verdict = LinkVerdict(
                    judged.verdict.words, _LOUDNESS[judged.verdict], judged.reason
                )
            self._judged[strategy] = (self._figures, verdict)
        return self._judged[strategy][1]

    def _follow_preset(self, index: int) -> None:
        if index == self._preset[0]:
            return
        self._preset = (index, None, None)
        if 0 <= index < len(self._names):
            link = load_link(self._names[index])
            plan = plan_link(Codec(self._model, 0, _MTU), link)
            self._preset = (index, link, (plan.frame_bytes, plan.telemetry_bytes))
