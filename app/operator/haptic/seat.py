"""The operator's seat with a haptic device: device, thread, and the station's blocks.

    HapticSample -> map_hand -> InputBlock of `Source.HAPTIC`   (1 kHz, haptic thread)
    StationState.force_hand -> map_force -> HapticForce

The control tick adds an offset of its own to a target whenever somebody takes charge,
engages, or lets go of the clutch; the bases kept here change in the same moments only,
so that neither moves the tip. `force_hand` is what the hand is to push with; the device
shows the opposite.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from app.clock import NS_PER_S
from app.errors import ConfigError
from app.messages import Event, InputBlock, Severity, Source, StationState
from app.operator.haptic.kinds import build_device, virtual_device
from app.operator.haptic.mapping import (
    AT_EDGE,
    MappingModel,
    allocate_mapping,
    map_force,
    map_hand,
)
from app.operator.haptic.parameters import (
    FACTS,
    HapticParameters,
    load_haptic,
    mapping_model,
    render_model,
)
from app.operator.haptic.signals import (
    HapticForce,
    HapticSample,
    Inbox,
    Outbox,
    allocate_force,
    allocate_sample,
)
from app.operator.haptic.worker import HapticWorker

__all__ = ["HAPTIC_NAMES", "HandInbox", "HandOutbox", "HapticSeat", "haptic_parameters"]

HAPTIC_NAMES = (*FACTS, *(f"virtual-{name}" for name in FACTS))
"""What `--haptic` may name, beside a TOML file."""

_VIRTUAL = "virtual-"
_HINT_NS = 5 * NS_PER_S


def haptic_parameters(name: str) -> tuple[HapticParameters, bool]:
    """Find the parameters of a device by name.

    Args:
        name: one of `HAPTIC_NAMES`, or the path of a TOML file.

    Returns:
        The parameters, and whether the virtual device of that kind is meant.

    Raises:
        ConfigError: no such device, or the file is wrong.
    """
    if name.endswith(".toml"):
        return load_haptic(Path(name).expanduser()), False
    if name not in HAPTIC_NAMES:
        raise ConfigError(
            f"No haptic device {name!r}; there are {', '.join(HAPTIC_NAMES)}, or give "
            "the path of a TOML file."
        )
    kind = name.removeprefix(_VIRTUAL)
    own = load_haptic()
    if own.device != kind:
        own = HapticParameters.model_validate({"device": kind})
    return own, name != kind


class HandOutbox:
    """Takes samples of the device, and publishes an operator's input."""

    def __init__(
        self,
        model: MappingModel,
        commands: Outbox[InputBlock],
        state: Inbox[StationState],
        say: Callable[[Event], None],
    ) -> None:
        """Join both sides.

        Args:
            model: scale, turn and buttons.
            commands: input of `Source.HAPTIC`, written here alone.
            state: the control loop's newest; refreshed by the `HandInbox`.
            say: takes events.
        """
        self.local: HapticSample = allocate_sample()
        self.data = allocate_mapping()
        self._model = model
        self._commands = commands
        self._state = state
        self._say = say
        self._target = np.zeros(3)
        self._hint_ns = 0

    def publish(self) -> None:
        """Map the newest sample and publish the input."""
        self._target[:] = self.data.target
        status = map_hand(
            self._model,
            self.local,
            1,
            int(self._state.local.selected_limb[0]),
            self._target,
            self.data,
            self._commands.local,
        )
        self._commands.publish()
        stamp_ns = int(self.local.stamp_ns[0])
        if status & AT_EDGE and stamp_ns >= self._hint_ns:
            self._hint_ns = stamp_ns + _HINT_NS
            self._say(
                Event(
                    stamp_ns,
                    Severity.INFO,
                    "haptic",
                    "The handle is near the end of its reach. Hold the clutch, or let "
                    "the deadman go, bring it back to the middle and go on.",
                )
            )


class HandInbox:
    """Reads what the hand shall feel from the control loop's state."""

    def __init__(self, model: MappingModel, state: Inbox[StationState]) -> None:
        """Join both sides.

        Args:
            model: scales and turn.
            state: the control loop's newest, in a mapping of its own.
        """
        self.local: HapticForce = allocate_force()
        self._model = model
        self._state = state
        self._shown = np.zeros(3)

    def refresh(self) -> bool:
        """Take over the newest force; an old one where none could be read."""
        told = self._state.refresh()
        state = self._state.local
        np.negative(state.force_hand, out=self._shown)
        map_force(
            self._model,
            int(state.time_ns[0]),
            int(state.tick[0]),
            self._shown,
            int(int(state.active_source[0]) == Source.HAPTIC),
            self.local,
        )
        return told


class HapticSeat:
    """A device at the station; `start` and `stop` it beside the other operators."""

    def __init__(
        self,
        name: str,
        commands: Outbox[InputBlock],
        state: Inbox[StationState],
        say: Callable[[Event], None],
    ) -> None:
        """Prepare; nothing is opened.

        Args:
            name: see `haptic_parameters`.
            commands: mailbox of `Source.HAPTIC`.
            state: the control loop's state, in a mapping that nobody else refreshes.
            say: takes events, in the haptic thread.

        Raises:
            ConfigError: no such device, or its file is wrong.
        """
        self.parameters, self._virtual = haptic_parameters(name)
        self._commands = commands
        self._state = state
        self._say = say
        self._stack = contextlib.ExitStack()
        self._worker: HapticWorker | None = None

    def start(self) -> None:
        """Start the thread; a device that is not there yet is waited for.

        Raises:
            DeviceError: a virtual device cannot be served here.
        """
        parameters = self.parameters
        model = mapping_model(parameters)
        if self._virtual:
            device = self._stack.enter_context(virtual_device(parameters))
        else:
            device = build_device(parameters)
        outbox = HandOutbox(model, self._commands, self._state, self._say)
        outbox.publish()  # loads the kernel; nobody is there yet
        self._worker = HapticWorker(
            device,
            outbox,
            HandInbox(model, self._state),
            self._say,
            render_model(parameters),
        )
        self._worker.start()

    def stop(self) -> None:
        """Fade the force out and end the thread; idempotent."""
        if self._worker is not None:
            self._worker.stop()
        self._stack.close()

    def told(self) -> dict[str, Any]:
        """Sum up how punctual the thread was, and how smooth its force."""
        worker = self._worker
        if worker is None:
            return {}
        return worker.timing()._asdict() | {
            "greatest_step_n": float(worker.render.greatest_step[0]),
            "slew_limit_n_ms": 1e-3 * self.parameters.slew_n_s,
        }
