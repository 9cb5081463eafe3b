"""What a running session tells its recording, whoever writes it and how."""

from collections.abc import Sequence
from typing import Protocol

from app.link.channel import Direction, PacketRecord
from app.link.emulator_protocol import EmulatorStatus
from app.link.offset import ClockOffset
from app.link.records import TelemetryFrame
from app.messages import (
    Event,
    GoalWish,
    LinkHealth,
    LinkTurn,
    LinkWish,
    Mark,
    OperatorInput,
    RobotState,
    Source,
    StationState,
    TeleopWish,
)
from models.numerics import FloatArray, IntArray

__all__ = ["METADATA_NAME", "Journal", "LayoutDescription", "StatisticsLike"]

LayoutDescription = Sequence[tuple[str, int, tuple[int, ...]]]

METADATA_NAME = "limblink"
"""Of the MCAP metadata record with the facts of the run."""


class StatisticsLike(Protocol):
    """Loop statistics: a NamedTuple of int64 arrays, see `app.control.blocks`."""

    @property
    def ticks(self) -> IntArray:
        """Ticks since the loop started, (1,)."""

    @property
    def lateness(self) -> IntArray:
        """Histogram of lateness, counts."""


class Journal(Protocol):
    """What a running session tells its recording; all times in ns."""

    def write_states(self, rows: IntArray, description: LayoutDescription) -> None:
        """Keep (n, words) rows of `StationState`, laid out as described."""

    def write_input(self, source: Source, sample: OperatorInput) -> None:
        """Keep one sample of an operator."""

    def write_frame(
        self, direction: Direction, sent_ns: int, received_ns: int, payload: bytes
    ) -> None:
        """Keep one frame as it was on the wire; a time not known is 0."""

    def write_packet(self, packet: PacketRecord) -> None:
        """Keep the fate of one packet in the emulated channel."""

    def write_setpoint(
        self, time_ns: int, state: StationState, packets: Sequence[bytes]
    ) -> None:
        """Keep what was commanded when these frames were sent."""

    def write_telemetry(
        self, frame: TelemetryFrame, generated_ns: int, received_ns: int
    ) -> None:
        """Keep what a telemetry frame says; when it was made, in station time."""

    def write_robot(
        self,
        time_ns: int,
        state: RobotState,
        applied: FloatArray,
        true_pose: FloatArray,
    ) -> None:
        """Keep what a simulated robot really does: (S, 3) each [rad, rad, m]."""

    def write_link(self, time_ns: int, status: EmulatorStatus) -> None:
        """Keep the link's settings where they changed, and once a second."""

    def write_clock(self, time_ns: int, clock: ClockOffset) -> None:
        """Keep what is known of the robot's clock."""

    def write_health(self, health: LinkHealth) -> None:
        """Keep what is known of the link."""

    def write_event(self, event: Event) -> None:
        """Keep something a person should know of."""

    def write_mark(self, mark: Mark) -> None:
        """Keep a moment that a person has marked."""

    def write_statistics(self, time_ns: int, statistics: StatisticsLike) -> None:
        """Keep the loop's statistics so far."""

    def write_wish(self, time_ns: int, wish: TeleopWish | LinkWish | GoalWish) -> None:
        """Keep what a person wants otherwise from now on."""

    def write_turns(self, turns: Sequence[LinkTurn]) -> None:
        """Keep what a live link thread did, in that order."""
