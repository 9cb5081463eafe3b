"""A control loop stepped by hand, with operators and a robot that obeys."""

from pathlib import Path

import numpy as np

from app.clock import NS_PER_S
from app.config.robot import build_robot_model, load_robot
from app.config.teleop import TeleopParameters
from app.control.blocks import SessionBlocks
from app.control.loop import PERIOD_NS, ControlLoop
from app.messages import (
    InputMode,
    OperatorInput,
    RobotState,
    Source,
    StationMode,
    put_sample,
)

MODEL = build_robot_model(load_robot("ursula"))
START_NS = 10 * NS_PER_S


class Bench:
    """A loop stepped by hand, with operators and a robot that obeys."""

    def __init__(self, folder: Path, teleop: TeleopParameters | None = None) -> None:
        self.blocks = SessionBlocks(folder, MODEL, create=True)
        self.loop = ControlLoop(MODEL, self.blocks, teleop)
        self.now_ns = START_NS
        self.samples: dict[Source, dict] = {}
        self.obeys = True
        health = self.blocks.health.local
        health.telemetry_limit_ns[0] = NS_PER_S
        health.confirmed_coordinates[:] = MODEL.rest_coordinates
        health.robot_epoch[0] = 200
        self.hear()

    @property
    def state(self):
        return self.loop.state

    def hear(self, robot: RobotState | None = None, age_ns: int = 0) -> None:
        """Let telemetry of this age come."""
        health = self.blocks.health.local
        if robot is not None:
            health.robot_state[0] = robot
        health.robot_heard_ns[0] = self.now_ns - age_ns
        health.confirmed_generated_ns[:] = self.now_ns - age_ns
        self.blocks.health.publish()

    def report_wall(
        self, place: np.ndarray, stiffness: float, limb: int = 0, number: int = 1
    ) -> None:
        """The robot reports a plane that faces aft at `place`."""
        health = self.blocks.health.local
        health.report_number[limb] = number
        health.report_status[limb] = 1
        health.report_point[limb] = place
        health.report_normal[limb] = (-1.0, 0.0, 0.0)
        health.report_stiffness[limb] = stiffness
        health.report_exponent[limb] = 1.0
        health.report_confidence[limb] = 1.0

    def say(self, source: Source, **fields) -> None:
        """Set what a source holds from now on; it is stamped anew every tick."""
        self.samples.setdefault(source, {"present": True}).update(fields)

    def put(self, source: Source, stamp_ns: int) -> None:
        mailbox = self.blocks.inputs[source]
        sample = OperatorInput(stamp_ns=stamp_ns, **self.samples[source])
        put_sample(sample, mailbox.local_words)
        mailbox.publish()

    def run(self, ticks: int, *, silent: tuple[Source, ...] = ()) -> None:
        for _ in range(ticks):
            self.now_ns += PERIOD_NS
            for source in self.samples:
                if source not in silent:
                    self.put(source, self.now_ns)
            if self.obeys:
                armed = self.state.mode[0] == StationMode.ARMED
                if armed:
                    self.blocks.health.local.robot_epoch[0] = self.state.arm_epoch[0]
                self.hear(RobotState.ACTIVE if armed else RobotState.IDLE)
            self.loop.step_at(self.now_ns, self.now_ns)

    def press(self, source: Source, what: str) -> None:
        name = f"{what}_count"
        self.say(source, **{name: self.samples[source].get(name, 0) + 1})
        self.run(2)

    def arm(self, source: Source = Source.GAMEPAD) -> None:
        self.say(source)
        self.run(3)
        self.press(source, "arm")
        assert self.state.mode[0] == StationMode.ARMED

    def drive(self, source: Source = Source.GAMEPAD, **fields) -> None:
        self.say(source, deadman=True, mode=InputMode.RATE, rate=(0.0, 0.5, 0.0))
        self.say(source, **fields)
