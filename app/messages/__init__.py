"""Records that cross from one part of limblink to another, and their shared blocks.

Blocks are NamedTuples of arrays (see `app.control.mailbox`); L limbs, S segments and
T tendons size them. All are SI; times are CLOCK_MONOTONIC in integer ns; positions and
rates of a tip are in the hull frame (x bow, y port, z up).
"""

from app.messages.events import EVENT_WORDS, Event, Severity, pack_event, unpack_event
from app.messages.health import OBJECTS, LinkHealth, health_shapes
from app.messages.inputs import (
    INPUT_SHAPES,
    InputBlock,
    InputMode,
    OperatorInput,
    Source,
    put_sample,
)
from app.messages.marks import Mark
from app.messages.modes import RobotFault, RobotState, StationMode
from app.messages.shapes import Shapes
from app.messages.state import StationState, state_shapes
from app.messages.turns import LinkTurn, TurnKind
from app.messages.wishes import (
    GOAL_POINTS,
    GOAL_WISH_SHAPES,
    LINK_OVERRIDES,
    LINK_WISH_SHAPES,
    TELEOP_WISH_SHAPES,
    GoalSource,
    GoalWish,
    LinkWish,
    TeleopWish,
)

__all__ = [
    "EVENT_WORDS",
    "GOAL_POINTS",
    "GOAL_WISH_SHAPES",
    "INPUT_SHAPES",
    "LINK_OVERRIDES",
    "LINK_WISH_SHAPES",
    "OBJECTS",
    "TELEOP_WISH_SHAPES",
    "Event",
    "GoalSource",
    "GoalWish",
    "InputBlock",
    "InputMode",
    "LinkHealth",
    "LinkTurn",
    "LinkWish",
    "Mark",
    "OperatorInput",
    "RobotFault",
    "RobotState",
    "Severity",
    "Shapes",
    "Source",
    "StationMode",
    "StationState",
    "TeleopWish",
    "TurnKind",
    "health_shapes",
    "pack_event",
    "put_sample",
    "state_shapes",
    "unpack_event",
]
