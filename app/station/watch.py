"""Turning changes of the control loop's state into events that a person can read."""

from collections.abc import Callable

from app.control.arming import ARM_REFUSAL_TEXT
from app.messages import Event, Severity, Source, StationMode, StationState
from models.environment_report import SurfaceStatus

__all__ = ["StateWatch"]

_SOURCE_WORDS = {
    Source.GAMEPAD: "the gamepad",
    Source.CONSOLE: "the console",
    Source.SCRIPT: "the scripted operator",
    Source.HAPTIC: "the haptic device",
}
_SURFACE_WORDS = {
    SurfaceStatus.MOVED: "The surface at the {} has moved. Touch it anew, slowly.",
    SurfaceStatus.CHANGED: "The surface at the {} is softer or stiffer than it was.",
    SurfaceStatus.GONE: "The surface at the {} is gone. Back off and touch it anew.",
    SurfaceStatus.NOT_EXPLAINED: "No model explains what the {} feels. Trust the "
    "robot's force alone.",
}


class StateWatch:
    """Remembers the last state and names what changed; pure."""

    def __init__(self, limb_names: list[str]) -> None:
        self._names = limb_names
        self._mode = int(StationMode.DISARMED)
        self._refusal = 0
        self._epoch = 0
        self._active = -1
        self._faults = [0] * len(limb_names)
        self._surfaces = [0] * len(limb_names)
        self._unexplained = [0] * len(limb_names)
        self._words: tuple[int | bytes, ...] = ()  # of the last state

    def step(self, state: StationState) -> list[Event]:
        """Compare with the last state.

        Args:
            state: the newest state.

        Returns:
            An event for every change worth telling.
        """
        words = (
            state.mode.item(),
            state.arm_refusal.item(),
            state.arm_epoch.item(),
            state.active_source.item(),
            state.fault.tobytes(),
            state.surface_status.tobytes(),
            state.unexplained.tobytes(),
        )
        if words == self._words:
            return []
        self._words = words
        now_ns = int(state.time_ns[0])
        events: list[Event] = []

        def say(severity: Severity, text: str) -> None:
            events.append(Event(now_ns, severity, "station", text))

        mode, refusal = int(state.mode[0]), int(state.arm_refusal[0])
        if mode != self._mode or int(state.arm_epoch[0]) != self._epoch:
            if mode == StationMode.ARMED:
                say(Severity.INFO, f"Armed (epoch {int(state.arm_epoch[0])}).")
            elif mode == StationMode.ESTOP:
                say(Severity.ALARM, "Emergency stop. Reset it, then arm, to go on.")
            elif self._mode == StationMode.ESTOP:
                say(Severity.INFO, "Emergency stop reset. Arm to go on.")
            elif refusal == 0:
                say(Severity.INFO, "Disarmed.")
        if refusal != self._refusal and refusal:
            say(
                Severity.WARNING, ARM_REFUSAL_TEXT.get(refusal, f"Refused ({refusal}).")
            )
        active = int(state.active_source[0])
        if active != self._active:
            if active >= 0:
                limb = self._names[int(state.selected_limb[0])]
                say(
                    Severity.INFO,
                    f"{_SOURCE_WORDS[Source(active)].capitalize()} moves the {limb}.",
                )
            elif self._active >= 0:
                self._say_released(say, state)
        faults = [int(code) for code in state.fault]
        for name, code, before in zip(self._names, faults, self._faults, strict=True):
            if code and not before:
                say(
                    Severity.ALARM,
                    f"The local model of the {name} left its range (code {code}) and "
                    "was frozen.",
                )
        self._faults = faults
        self._say_surfaces(say, state)
        self._mode, self._refusal, self._active = mode, refusal, active
        self._epoch = int(state.arm_epoch[0])
        return events

    def _say_surfaces(
        self, say: Callable[[Severity, str], None], state: StationState
    ) -> None:
        """Say where the models of surfaces and robot came to be wrong."""
        for limb, name in enumerate(self._names):
            status = int(state.surface_status[limb])
            words = _SURFACE_WORDS.get(SurfaceStatus(status))
            if words and status != self._surfaces[limb]:
                say(Severity.WARNING, words.format(name))
            self._surfaces[limb] = status
            wrong = int(state.unexplained[limb])
            if wrong and not self._unexplained[limb]:
                text = f"The local model does not explain where the {name} is."
                say(Severity.WARNING, text)
            self._unexplained[limb] = wrong

    def _say_released(
        self, say: Callable[[Severity, str], None], state: StationState
    ) -> None:
        source = Source(self._active)
        words = _SOURCE_WORDS[source].capitalize()
        if state.source_fresh[source]:
            say(Severity.INFO, f"{words} let go; the limb stands still.")
        else:
            age_ms = float(state.source_age_ns[source]) / 1e6
            say(
                Severity.WARNING,
                f"{words} fell silent ({age_ms:.0f} ms old): input is neutral, the "
                "limb stands still.",
            )
