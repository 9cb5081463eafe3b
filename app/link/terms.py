"""What all frame formats of one side are written and read by."""

from dataclasses import dataclass

from app.link.counters import Counters
from app.link.schema import Schema
from app.link.seal import Seal

__all__ = ["Terms"]


@dataclass(frozen=True)
class Terms:
    """One robot on one link; the formats share its seal and its counters.

    Attributes:
        robot_id: the robot's number, 0..255.
        schema: of the robot.
        seal: bound to the robot's session.
        counters: of the station.
    """

    robot_id: int
    schema: Schema
    seal: Seal
    counters: Counters
