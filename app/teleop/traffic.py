"""What each strategy sends, and what a link can carry of it.

A packet of L bytes may go 0.8 R / 8L times a second at R bit/s, and takes 8L/R on its
way, which adds to the delay; so does, on the mean, half the time between packets of a
stream. At 20 bytes that makes 0.5, 5, 25 and 150 packets a second, and 1.6 s, 160, 32
and 5 ms, for 0.1, 1, 5 and 30 kbit/s.
"""

from dataclasses import dataclass

from app.config.link import LinkParameters
from app.teleop.strategy import Strategy

__all__ = ["TRAFFIC", "LinkFigures", "Passage", "Traffic", "figures_of", "passage"]

_USE = 0.8


@dataclass(frozen=True)
class Traffic:
    """What a strategy sends.

    Attributes:
        down_bytes: of a packet to the robot, header of 8 bytes included.
        up_bytes: of one to the station.
        down_hz: greatest rate to the robot.
        up_hz: to the station.
        enough_down_hz: rate to the robot from which on nothing is missed.
        enough_up_hz: to the station.
        least_hz: below which it is of no use, either way.
        stream: whether packets go at a rate; else each goes when it is wanted.
    """

    down_bytes: int
    up_bytes: int
    down_hz: float
    up_hz: float
    enough_down_hz: float
    enough_up_hz: float
    least_hz: float
    stream: bool = True


def _bilateral(down_bytes: int, up_bytes: int) -> Traffic:
    """Packets of 1 kHz; the deadband needs less than a tenth, so that is of use."""
    return Traffic(down_bytes, up_bytes, 1000.0, 1000.0, 1000.0, 1000.0, 100.0)


TRAFFIC = {
    Strategy.POSITION_POSITION: _bilateral(20, 26),
    Strategy.POSITION_FORCE: _bilateral(20, 20),
    Strategy.WAVES: _bilateral(20, 20),
    Strategy.TWO_PORT: _bilateral(24, 24),
    Strategy.MODEL_MEDIATED: Traffic(21, 26, 20.0, 10.0, 5.0, 2.0, 0.2),
    Strategy.PREDICTIVE: Traffic(15, 22, 20.0, 10.0, 5.0, 2.0, 0.2),
    Strategy.MOVE_AND_WAIT: Traffic(15, 22, 20.0, 10.0, 5.0, 2.0, 0.2),
    Strategy.SUPERVISED: Traffic(18, 32, 0.5, 0.5, 0.1, 0.1, 0.01, stream=False),
}
"""Packets of each strategy."""


@dataclass(frozen=True)
class LinkFigures:
    """A link as measured, or as its preset says.

    Attributes:
        down: one-way delay to the robot, without serialisation [s].
        up: to the station [s].
        jitter: standard deviation of the delay [s].
        down_bps: bit rate to the robot that may be used [bit/s].
        up_bps: to the station [bit/s].
        mtu: longest packet [bytes].
        overhead: added to each packet [bytes].
        loss: share of packets lost.
    """

    down: float
    up: float
    down_bps: float
    up_bps: float
    jitter: float = 0.0
    mtu: int = 1500
    overhead: int = 0
    loss: float = 0.0


def figures_of(link: LinkParameters) -> LinkFigures:
    """Take the figures of a link's preset; a shared medium gives each way a half."""
    share = 0.5 if link.medium.duplex == "half" else 1.0
    delay = 1e-3 * link.delay_ms
    return LinkFigures(
        down=delay,
        up=delay,
        down_bps=share * link.down_bps,
        up_bps=share * link.up_bps,
        jitter=1e-3 * link.jitter.deviation_ms,
        mtu=link.medium.mtu_bytes,
        overhead=link.medium.overhead_bytes,
        loss=link.expected_loss(),
    )


@dataclass(frozen=True)
class Passage:
    """One way of a strategy over a link.

    Attributes:
        size: of a packet, without the link's overhead [bytes].
        hz: packets a second.
        share: of the rate from which on nothing is missed.
        serialisation: time of a packet on the wire [s].
        delay: link, serialisation and half a packet's interval [s].
    """

    size: int
    hz: float
    share: float
    serialisation: float
    delay: float


def passage(
    traffic: Traffic, figures: LinkFigures, *, up: bool, size: int | None = None
) -> Passage:
    """Say how one way of a strategy goes over a link.

    Args:
        traffic: of the strategy.
        figures: of the link.
        up: to the station; else to the robot.
        size: of a packet that is really sent [bytes]; None = the traffic's.
    """
    length = size or (traffic.up_bytes if up else traffic.down_bytes)
    bits = 8.0 * (length + figures.overhead)
    bps = figures.up_bps if up else figures.down_bps
    wanted = traffic.up_hz if up else traffic.down_hz
    enough = traffic.enough_up_hz if up else traffic.enough_down_hz
    hz = min(wanted, _USE * bps / bits)
    wait = 0.5 / hz if traffic.stream else 0.0
    delay = (figures.up if up else figures.down) + bits / bps + wait
    return Passage(length, hz, hz / enough, bits / bps, delay)
