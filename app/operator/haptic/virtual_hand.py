"""A hand on a handle, as all virtual devices have it: one code, any clock."""

import math

import numpy as np

from app.clock import NS_PER_S
from app.operator.haptic.base import HapticFacts
from app.operator.haptic.hand import (
    HandModel,
    allocate_hand,
    hand_model,
    move_hand,
    place_hand,
)
from app.operator.haptic.hand_path import hand_aim
from models.numerics import FloatArray

__all__ = ["VirtualHand"]

_LONGEST_NS = NS_PER_S // 10


class VirtualHand:
    """Moves by its arm and its path, feels the device, holds a button down."""

    def __init__(
        self,
        facts: HapticFacts,
        arm: str = "relaxed",
        path: str = "still",
        buttons: int = 0,
        device: HandModel | None = None,
    ) -> None:
        """Take hold in the middle of the workspace.

        Args:
            facts: of the device that is held.
            arm: one of `models.human_arm.GRIPS`.
            path: one of `hand_path.HAND_PATHS`.
            buttons: that it holds down, as bits.
            device: arm and device together, None for `arm` on a small device.

        Raises:
            ConfigError: no such arm or path.
        """
        hand_aim(path, 0.0)
        self.model = device or hand_model(arm)
        self.data = allocate_hand(self.model)
        self.path = path
        self.buttons = buttons
        self.force = np.zeros(3)
        """(3,) of the device on the hand, now [N]."""
        self.reference: FloatArray | None = None
        """(3,) where a program wants the hand instead of its path [m]."""
        self.greatest_step = 0.0
        """Greatest change of the force from one command to the next [N]."""
        self.cut = 0.0
        """Greatest force that ended because nobody renewed it [N]."""
        self.revived = 0.0
        """Greatest force that came back after that, by a command that was late [N]."""
        self.commands = 0
        self._ended = False
        self._centre = np.array(facts.centre)
        self._aim = np.zeros(3)
        self._speed = np.zeros(3)
        self._push = np.zeros(3)
        self._begin_ns = 0

    def push(self, force: tuple[float, float, float]) -> None:
        """Have the device push with `force` [N] from now on."""
        step = math.dist(force, self.force)
        if self._ended:
            self._ended = False
            self.revived = max(self.revived, step)
        else:
            self.greatest_step = max(self.greatest_step, step)
        self.commands += 1
        self.force[:] = force

    def let_go(self) -> None:
        """End the device's force, because nobody renews it."""
        size = float(np.linalg.norm(self.force))
        self._ended |= size > 0.0
        self.cut = max(self.cut, size)
        self.force[:] = 0.0

    def begin(self) -> None:
        """Note that somebody begins anew, without force."""
        self._ended = False

    def advance(self, now_ns: int) -> None:
        """Move up to now; where nobody asked for long, only the last tenth of a second.

        Args:
            now_ns: present time [ns]; the first call takes hold.
        """
        data = self.data
        if self._begin_ns == 0:
            self._begin_ns = now_ns
            place_hand(data, now_ns, self._centre)
        if now_ns - data.time_ns[0] > _LONGEST_NS:
            data.time_ns[0] = now_ns - _LONGEST_NS
        if self.reference is not None:
            self._aim[:] = self.reference
            self._speed[:] = 0.0
            self._push[:] = 0.0
        else:
            aim = hand_aim(self.path, (now_ns - self._begin_ns) / NS_PER_S)
            for i in range(3):
                self._aim[i] = self._centre[i] + aim.position[i]
                self._speed[i] = aim.velocity[i]
                self._push[i] = aim.push[i]
        move_hand(
            self.model, now_ns, self._aim, self._speed, self.force, self._push, data
        )

    @property
    def position(self) -> tuple[float, float, float]:
        """Of the handle [m]."""
        x, y, z = self.data.position
        return float(x), float(y), float(z)

    @property
    def velocity(self) -> tuple[float, float, float]:
        """Of the handle [m/s]."""
        x, y, z = self.data.velocity
        return float(x), float(y), float(z)
