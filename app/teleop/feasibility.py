"""Whether a strategy is of use on a link, before it is chosen, and what it is like.

Bilateral strategies are made for 1 kHz, 160 to 208 kbit/s each way: no acoustic link
carries them (`app.teleop.traffic`). Those that are not passive are judged by their
exact linear limit, with a relaxed and a light grip, in free water and on the stiffest
contact (`app.teleop.limits`).
"""

import math
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from app.config.teleop import TeleopParameters
from app.teleop.held_loop import held_loop, shown_share, stiffest_contact
from app.teleop.limits import NO_CONTACT, delay_limit, wave_stiffness
from app.teleop.strategy import Strategy
from app.teleop.traffic import TRAFFIC, LinkFigures, Passage, passage
from models.human_arm import GRIPS

__all__ = [
    "Feasibility",
    "Verdict",
    "coast_after_release",
    "feasibility_table",
    "judge_all",
    "judge_strategy",
]

_REACTION = 0.25  # of an operator who sees [s]
_PERIOD = 1e-3
_WALL_MARGIN = 0.8  # as models.environment renders
_HOLD_DELAY = 0.05  # past it two-port passivity loses the hold [s]
_MUCH_LOSS = 0.3


class Verdict(IntEnum):
    """Whether a strategy fits a link."""

    UNFIT = 0
    DEGRADED = 1
    FITS = 2

    @property
    def words(self) -> str:
        """For people."""
        return ("does not fit", "degraded", "fits")[int(self)]


@dataclass(frozen=True)
class Feasibility:
    """What a strategy would be like on a link.

    Attributes:
        strategy: which.
        verdict: whether it fits.
        down: its way to the robot.
        up: its way to the station.
        limit: delay each way at which it gets unstable with a relaxed or light grip, in
            free water or on the stiffest contact [s]; infinite where there is none.
        stiffness: that the hand is shown of that contact at rest [N/m]; 0 = none.
        coast: how far the tip goes on after the operator has seen enough [m]; 0 where
            the robot stops at a goal by itself.
        reason: one sentence for the screen.
    """

    strategy: Strategy
    verdict: Verdict
    down: Passage
    up: Passage
    limit: float
    stiffness: float
    coast: float
    reason: str

    @property
    def delay(self) -> float:
        """Mean delay each way [s]."""
        return 0.5 * (self.down.delay + self.up.delay)

    @property
    def margin(self) -> float:
        """Share of the limit that the delay leaves; 1 where there is no limit."""
        return 1.0 if self.limit == math.inf else 1.0 - self.delay / self.limit


def coast_after_release(strategy: Strategy, speed: float, round_trip: float) -> float:
    """How far the tip goes on after the operator sees that it is where it should be.

    Args:
        strategy: with model-mediated and predictive display the eye sees the present.
        speed: of the tip [m/s].
        round_trip: from a command to the sight of its effect [s].

    Returns:
        Way [m]; 0 for goals, at which the robot stops by itself.
    """
    if strategy == Strategy.SUPERVISED:
        return 0.0
    seen_now = strategy in {Strategy.MODEL_MEDIATED, Strategy.PREDICTIVE}
    return speed * (_REACTION + (0.0 if seen_now else round_trip))


@lru_cache(maxsize=64)
def _delay_limit(strategy: Strategy, parameters: TeleopParameters) -> float:
    """Smallest delay that makes the loop unstable, over grips and contacts [s]."""
    if strategy not in {Strategy.POSITION_POSITION, Strategy.POSITION_FORCE}:
        return math.inf
    share = shown_share(parameters) if strategy == Strategy.POSITION_FORCE else None
    return min(
        delay_limit(held_loop(parameters, GRIPS[grip]), contact, share)
        for grip in ("relaxed", "light")
        for contact in (NO_CONTACT, stiffest_contact(parameters))
    )


def _shown_stiffness(
    strategy: Strategy, parameters: TeleopParameters, delay: float
) -> float:
    """Stiffness that the hand is shown of the stiffest contact at rest [N/m]."""
    contact = stiffest_contact(parameters)
    coupling = parameters.stiffness_n_per_m[0]
    impedance = parameters.waves.impedance_n_s_per_m
    series = wave_stiffness(coupling, contact, impedance, 0.0)
    if strategy == Strategy.POSITION_POSITION:
        return series
    if strategy == Strategy.POSITION_FORCE:
        return shown_share(parameters) * series
    if strategy == Strategy.WAVES:
        return wave_stiffness(coupling, contact, impedance, delay)
    if strategy == Strategy.TWO_PORT:
        return series if delay <= _HOLD_DELAY else 0.0
    if strategy == Strategy.MODEL_MEDIATED:
        free = parameters.handle.damping_n_s_per_m
        damping = min(contact.damping, 0.5 * free)
        return min(contact.stiffness, _WALL_MARGIN * 2.0 * (free - damping) / _PERIOD)
    return 0.0


def judge_strategy(
    strategy: Strategy,
    figures: LinkFigures,
    parameters: TeleopParameters,
    frames: tuple[int, int] | None = None,
) -> Feasibility:
    """Say what a strategy would be like on a link.

    Args:
        strategy: which.
        figures: of the link, measured or of its preset.
        parameters: of the strategies.
        frames: bytes of a setpoint and of a telemetry frame as they are really sent,
            for the strategies that send nothing else; None = 15 and 22.
    """
    traffic = TRAFFIC[strategy]
    alone = strategy in {Strategy.PREDICTIVE, Strategy.MOVE_AND_WAIT}
    sizes = frames if frames is not None and alone else (None, None)
    down = passage(traffic, figures, up=False, size=sizes[0])
    up = passage(traffic, figures, up=True, size=sizes[1])
    delay = 0.5 * (down.delay + up.delay)
    limit = _delay_limit(strategy, parameters)
    verdict = Verdict.UNFIT
    reason = _why_not(strategy, figures, down, up, limit)
    if not reason:
        verdict = Verdict.DEGRADED
        reason = _why_worse(strategy, figures, down, up, limit, parameters)
    if not reason:
        verdict = Verdict.FITS
        reason = _what_then(strategy, down, 2.0 * delay)
    return Feasibility(
        strategy=strategy,
        verdict=verdict,
        down=down,
        up=up,
        limit=limit,
        stiffness=_shown_stiffness(strategy, parameters, delay),
        coast=coast_after_release(
            strategy, 1e-3 * parameters.command_speed_mm_s, 2.0 * delay
        ),
        reason=reason,
    )


def _rates(strategy: Strategy, down: Passage, up: Passage) -> str:
    """The scarcer of the two ways in words."""
    traffic = TRAFFIC[strategy]
    if up.share < down.share:
        return f"{up.hz:.3g} of {traffic.enough_up_hz:.4g} packets/s back"
    return f"{down.hz:.3g} of {traffic.enough_down_hz:.4g} packets/s"


def _why_not(
    strategy: Strategy,
    figures: LinkFigures,
    down: Passage,
    up: Passage,
    limit: float,
) -> str:
    """Why a strategy is of no use on a link; "" where it is."""
    longest = max(down.size, up.size)
    delay = 0.5 * (down.delay + up.delay)
    if longest > figures.mtu:
        return f"Its packets of {longest} bytes do not fit the link's {figures.mtu}."
    if min(down.hz, up.hz) < TRAFFIC[strategy].least_hz:
        return f"The link carries {_rates(strategy, down, up)}: too few."
    if delay >= limit:
        found = f"{1e3 * delay:.0f} ms"
        return (
            f"Unstable with a light grip from {1e3 * limit:.0f} ms each way on; "
            f"here it is {found}."
        )
    return ""


def _why_worse(
    strategy: Strategy,
    figures: LinkFigures,
    down: Passage,
    up: Passage,
    limit: float,
    parameters: TeleopParameters,
) -> str:
    """Why a strategy is worse on a link than it can be; "" where it is not."""
    delay = 0.5 * (down.delay + up.delay)
    if strategy == Strategy.TWO_PORT and delay > _HOLD_DELAY:
        return f"Passive, but loses hold of a contact at {1e3 * delay:.0f} ms each way."
    if min(down.share, up.share) < 1.0:
        return f"The link carries {_rates(strategy, down, up)}."
    if delay + 2.0 * figures.jitter >= limit:
        return f"Jitter brings it to its limit of {1e3 * limit:.0f} ms each way."
    shown = _shown_stiffness(strategy, parameters, delay)
    best = _shown_stiffness(strategy, parameters, 0.0)
    if strategy == Strategy.WAVES and shown < 0.5 * best:
        return f"Passive, but a wall feels like {shown:.0f} N/m, not {best:.0f}."
    if figures.loss > _MUCH_LOSS:
        return f"{100.0 * figures.loss:.0f} % of packets are lost."
    return ""


def _what_then(strategy: Strategy, down: Passage, round_trip: float) -> str:
    """What a strategy that fits is like."""
    if strategy == Strategy.MOVE_AND_WAIT:
        return f"Look again {round_trip:.1f} s after each move."
    if strategy == Strategy.MODEL_MEDIATED:
        return f"Contact is felt at once; a change there after {round_trip:.1f} s."
    if strategy == Strategy.PREDICTIVE:
        return f"The robot is seen now; what it meets after {round_trip:.1f} s."
    if strategy == Strategy.SUPERVISED:
        return f"Goals are acknowledged after {round_trip:.1f} s."
    return f"The link carries {down.hz:.4g} packets/s."


def judge_all(
    figures: LinkFigures,
    parameters: TeleopParameters,
    frames: tuple[int, int] | None = None,
) -> tuple[Feasibility, ...]:
    """Judge every strategy on a link, see `judge_strategy`."""
    return tuple(judge_strategy(item, figures, parameters, frames) for item in Strategy)


def feasibility_table(
    judged: tuple[Feasibility, ...],
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Lay judged strategies out as a head and rows of words."""
    head = (
        "strategy",
        "verdict",
        "1/s down + up",
        "wire [ms]",
        "delay [ms]",
        "limit [ms]",
        "shown [N/m]",
        "coast [mm]",
        "why",
    )
    return head, [_row(item) for item in judged]


def _row(item: Feasibility) -> tuple[str, ...]:
    down, up = item.down, item.up
    return (
        item.strategy.title,
        item.verdict.words,
        f"{_short(down.hz)} + {_short(up.hz)}",
        f"{_short(1e3 * down.serialisation)} + {_short(1e3 * up.serialisation)}",
        f"{1e3 * down.delay:.0f} + {1e3 * up.delay:.0f}",
        "-" if item.limit == math.inf else f"{1e3 * item.limit:.0f}",
        f"{item.stiffness:.0f}" if item.strategy.feels else "-",
        f"{1e3 * item.coast:.0f}" if item.coast > 0.0 else "-",
        item.reason,
    )


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100.0 else f"{value:.2g}"
