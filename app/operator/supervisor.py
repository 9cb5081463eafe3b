"""Somebody who arms the robot and looks on: goals and their station do the rest."""

from app.messages import Event, LinkHealth, OperatorInput, Source, StationState
from app.operator.arming import ScriptedArming

__all__ = ["SUPERVISOR", "Supervisor"]

SUPERVISOR = "supervisor"


class Supervisor:
    """Arms, holds no deadman, moves nothing."""

    def __init__(self) -> None:
        """Begin with nothing pressed."""
        self._arming = ScriptedArming(Source.SCRIPT)

    def step(
        self, now_ns: int, state: StationState, health: LinkHealth
    ) -> OperatorInput:
        """Return the sample at `now_ns` [ns]."""
        wish = self._arming.step(now_ns, state, health)
        return OperatorInput(
            stamp_ns=now_ns,
            present=True,
            limb=int(state.selected_limb[0]),
            arm_count=wish.arm_count,
            disarm_count=wish.disarm_count,
        )

    def events(self) -> list[Event]:
        """Return what happened since the last call."""
        return self._arming.events()
