"""A station to test the console against: real shared blocks, filled step by step.

It imitates how the control tick takes presses, arms, stops and follows one source; it
has no dynamics: a tip goes where its target is.
"""

import json
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.clock import NS_PER_MS, MonotonicClock
from app.config.link import link_names, load_link
from app.config.robot import build_robot_model, load_robot
from app.control.blocks import SessionBlocks
from app.link.settings import ChannelSettings, LinkOverrides
from app.messages import (
    LINK_OVERRIDES,
    Event,
    RobotState,
    Severity,
    Source,
    StationMode,
    pack_event,
)
from app.scene import OrbitCamera, SceneFrame
from app.teleop.strategy import Strategy
from models.tip import limb_tips

if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

ROBOT = load_robot("ursula")
MODEL = build_robot_model(ROBOT)
CLOCK = MonotonicClock()
_AGE_LIMIT_NS = 150 * NS_PER_MS


class StandStation:
    """Fills the blocks of a folder as a station would."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.log = folder / "run.mcap"
        (folder / "session.json").write_text(json.dumps({"log": str(self.log)}))
        self.make_blocks()
        self.mode = StationMode.DISARMED
        self.refusal = 0
        self.refuse_with = 0
        self.robot = RobotState.IDLE
        self.heard = True
        self.pose_age_ms = 40.0
        self.coordinates = MODEL.rest_coordinates.copy()
        self.targets = limb_tips(MODEL, self.coordinates)
        self.selected = 0
        self.stalled = False
        self.emulator = True
        self.link_reports = True
        self.strategy = int(Strategy.MODEL_MEDIATED)
        self.state_also: dict[str, object] = {}
        self.health_also: dict[str, object] = {}
        self._wished = 0
        self.grips = np.zeros(MODEL.tip_speed_limit.size)
        self._grip_seen = 0.0
        self._counts: list[int] | None = None
        self._limb = 0

    def make_blocks(self) -> None:
        """Make the shared files; again after `remove_blocks`, as a restart does."""
        self.blocks = SessionBlocks(self.folder, MODEL, create=True)

    def remove_blocks(self) -> None:
        """Remove the shared files."""
        for name in (
            *("state", "statistics", "health", "log", "events"),
            *("wish", "teleop", "goal-0", "goal-1"),
        ):
            (self.folder / name).unlink()
        for source in Source:
            (self.folder / f"input-{int(source)}").unlink()

    def event(self, severity: Severity, text: str) -> None:
        """Publish an event."""
        self.blocks.events.push(
            pack_event(Event(CLOCK.now_ns(), severity, "station", text))
        )

    def step(self) -> None:
        """Advance to now, and publish."""
        if self.stalled:
            return
        now_ns = CLOCK.now_ns()
        self.blocks.inputs[Source.CONSOLE].refresh()
        console = self.blocks.inputs[Source.CONSOLE].local
        age_ns = now_ns - int(console.stamp_ns[0])
        fresh = bool(console.present[0]) and age_ns < _AGE_LIMIT_NS
        self._take_presses(
            [
                int(console.arm_count[0]),
                int(console.disarm_count[0]),
                int(console.estop_count[0]),
                int(console.estop_reset_count[0]),
            ]
        )
        if fresh and int(console.limb[0]) != self._limb:
            self._limb = self.selected = int(console.limb[0])
        active = -1
        if self.mode == StationMode.ARMED and fresh and console.deadman[0]:
            active = int(Source.CONSOLE)
            if int(console.mode[0]) == 2 and not console.clutch[0]:
                self.targets[self.selected] = console.target
            elif int(console.mode[0]) == 1:
                self.targets[self.selected] += 1e-3 * console.rate
        state = self.blocks.state.local
        state.time_ns[0] = now_ns
        state.tick[0] += 1
        state.mode[0] = self.mode
        state.arm_refusal[0] = self.refusal
        state.active_source[0] = active
        state.selected_limb[0] = self.selected
        state.source_age_ns[:] = 0
        state.source_age_ns[Source.CONSOLE] = age_ns
        state.source_fresh[:] = 0
        state.source_fresh[Source.CONSOLE] = int(fresh)
        state.coordinates_commanded[:] = self.coordinates
        state.coordinates_model[:] = self.coordinates
        state.target_position[:] = self.targets
        state.tip_commanded[:] = self.targets
        state.tip_model[:] = self.targets
        state.tension_model[:] = 1.0
        self._take_wish()
        state.strategy[0] = self.strategy
        if active >= 0 and float(console.grip[0]) != self._grip_seen:
            self._grip_seen = self.grips[self.selected] = float(console.grip[0])
        state.grip[:] = self.grips
        for name, value in self.state_also.items():
            getattr(state, name)[...] = value
        self.blocks.state.publish()
        statistics = self.blocks.statistics.local
        statistics.ticks[0] += 1
        statistics.lateness[130] += 1
        statistics.cost[120] += 1
        self.blocks.statistics.publish()
        self._publish_health(now_ns)

    def _take_wish(self) -> None:
        self.blocks.teleop.refresh()
        wish = self.blocks.teleop.local
        if int(wish.revision[0]) != self._wished:
            self._wished = int(wish.revision[0])
            self.strategy = int(wish.strategy[0])

    def _take_presses(self, counts: list[int]) -> None:
        before, self._counts = self._counts, counts
        if before is None:
            return
        if counts[2] > before[2]:
            self.mode = StationMode.ESTOP
            self.event(Severity.ALARM, "Emergency stop.")
        elif self.mode == (
            StationMode.ARMED if counts[1] > before[1] else StationMode.ESTOP
        ) and (counts[1] > before[1] or counts[3] > before[3]):
            self.mode = StationMode.DISARMED
        elif counts[0] > before[0] and self.mode == StationMode.DISARMED:
            self.refusal = self.refuse_with
            if not self.refusal:
                self.mode = StationMode.ARMED
                self.robot = RobotState.ACTIVE

    def _publish_health(self, now_ns: int) -> None:
        if not self.link_reports:
            return
        self.blocks.wish.refresh()
        wish = self.blocks.wish.local
        health = self.blocks.health.local
        link = load_link(link_names()[int(wish.preset[0])])
        overrides = {name: float(getattr(wish, name)[0]) for name in LINK_OVERRIDES}
        changed = LinkOverrides(**overrides) if wish.revision[0] else None
        channel = ChannelSettings.of(link, changed)
        health.delay_ms[0] = channel.delay_ms
        health.jitter_ms[0] = channel.weather.jitter_ms
        health.loss_set[0] = channel.weather.residual
        health.bandwidth_bps[0] = channel.rate_bps[0]
        health.preset[0] = wish.preset[0]
        health.cut[0] = int(wish.cut[0] > 0 or wish.outage_s[0] > 0.0)
        health.time_ns[0] = now_ns
        health.emulator_present[0] = int(self.emulator)
        health.telemetry_limit_ns[0] = 1000 * NS_PER_MS
        health.robot_state[0] = self.robot if self.heard else -1
        if self.heard:
            health.robot_heard_ns[0] = now_ns
            health.confirmed_coordinates[:] = self.coordinates
            generated_ns = now_ns - int(self.pose_age_ms * NS_PER_MS)
            health.confirmed_generated_ns[:] = generated_ns
            health.age_ms[0] = self.pose_age_ms
            health.rtt_ms[0] = 80.0
            health.down_bps[0] = 9000.0
            for name, value in self.health_also.items():
                getattr(health, name)[...] = value
        self.blocks.health.publish()


class StandScene:
    """Stands in for the scene: grey pictures of the right size, and what was asked."""

    camera_limb = 2
    redrew = False
    object_names = ()
    objects = np.zeros((0, 4, 4))

    def __init__(self) -> None:
        self.frame: SceneFrame | None = None
        self.place: NDArray[np.float64] | None = None
        self.closed = False
        self._size = (1, 1)

    def resize(self, width: int, height: int) -> None:
        """Take the size of the picture [px]."""
        self._size = (width, height)

    def update(self, frame: SceneFrame) -> None:
        """Keep the frame."""
        self.frame = frame

    def image(self, _camera: OrbitCamera) -> NDArray[np.uint8]:
        """Return a picture."""
        return np.full((self._size[1], self._size[0], 4), 60, dtype=np.uint8)

    def inset(self, width: int, height: int) -> NDArray[np.uint8]:
        """Return a small picture."""
        return np.full((height, width, 4), 90, dtype=np.uint8)

    def place_under(
        self, _camera: OrbitCamera, _x: float, _y: float, near: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], int]:
        """Return what was set, or where the tip is."""
        return (near if self.place is None else self.place), -1

    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True


class StandSupervisor:
    """Stands in for the owner of the processes."""

    def __init__(self) -> None:
        self.words = {"robot": "running (11)", "link": "running (12)"}
        self.words["station"] = "running (13)"
        self.restarted: list[str] = []

    def status(self) -> dict[str, str]:
        """Return what was set."""
        return dict(self.words)

    def restart(self, name: str) -> None:
        """Note the wish."""
        self.restarted.append(name)
        self.words[name] = "running (99)"
