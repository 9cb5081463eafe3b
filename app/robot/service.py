"""The robot's process: one socket and one core on an absolute 1 ms grid.

It needs no station to run safely: without commands it holds, gives way, and at last
goes slack by itself, and it takes a new arming whenever a station returns. Where it
binds, several stations may listen and one of them drives (see `app.robot.custody`).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from app.clock import NS_PER_MS, MonotonicClock
from app.config.link import LinkParameters
from app.config.robot import RobotParameters
from app.config.scene import SceneParameters
from app.link.endpoint import Endpoint, load_keys
from app.messages import Event
from app.real_time import prefer_real_time
from app.robot.body import Body
from app.robot.core import DEFAULT_ROBOT_ID, STEP_NS, RobotCore, warm_up_robot
from app.robot.plant import PlantMismatch

__all__ = ["Grid", "run_robot"]

_PRIORITY = 40  # of SCHED_FIFO, where permitted
_WAKE_NS = 3 * NS_PER_MS  # what is due by then is made at once: warm, it costs a third
_CATCH_UP_STEPS = 20
_EVENTS_NS = 100 * NS_PER_MS


class Grid:
    """An absolute grid of 1 ms: catches up a little, counts what it skips; pure."""

    def __init__(self, start_ns: int) -> None:
        """Begin with the first step at `start_ns` [ns]."""
        self.next_ns = start_ns
        self.skipped = 0

    def due(self, now_ns: int) -> range:
        """Return the grid times to step at now, and move on.

        After a stall only the newest 20 ms are made up for: time went on for the limb
        too, but a long burst would starve the link.
        """
        count = max(0, (now_ns - self.next_ns) // STEP_NS + 1)
        if count > _CATCH_UP_STEPS:
            self.skipped += count - _CATCH_UP_STEPS
            self.next_ns += (count - _CATCH_UP_STEPS) * STEP_NS
            count = _CATCH_UP_STEPS
        times = range(self.next_ns, self.next_ns + count * STEP_NS, STEP_NS)
        self.next_ns += count * STEP_NS
        return times


def run_robot(
    *,
    robot: RobotParameters,
    link: LinkParameters,
    address: str,
    role: Literal["bind", "connect"],
    mismatch: PlantMismatch,
    seed: int,
    stop: Callable[[], bool],
    keys: Path | None = None,
    robot_id: int = DEFAULT_ROBOT_ID,
    say: Callable[[Event], None] | None = None,
    body: Body | None = None,
    scene: SceneParameters | None = None,
) -> None:
    """Run the robot's side until told to stop.

    Args:
        robot: the robot as its file gives it.
        link: sets the frame size and telemetry's share of the link.
        address: where the station or the emulator is, or where to wait for it.
        role: "connect" or "bind".
        mismatch: how the simulated robot differs from its file.
        seed: of the sensor noise.
        stop: asked every 2 ms; True ends the process.
        keys: folder with this robot's key pair `robot` and the peer's public key
            (`station`, where this end connects); needed for addresses off this host.
        robot_id: number that frames for this robot carry, 0..255.
        say: called with what a person should know, refused peers among it; None =
            nobody listens.
        body: what is driven; None = the simulated robot.
        scene: what a simulated robot can touch and grasp; None = open water.

    Raises:
        LinkError: the address is bad or in use, or keys are missing.
        ConfigError: the mismatch does not fit the robot.
    """
    own_keys = None
    if keys is not None:
        own_keys = load_keys(keys, "robot", "robot" if role == "bind" else "station")
    with Endpoint(address, role, own_keys) as endpoint:
        warm_up_robot(robot, link, scene)
        core = RobotCore(
            robot, link, mismatch, seed, robot_id=robot_id, body=body, scene=scene
        )
        # not before: loading must not hold up a window
        prefer_real_time(_PRIORITY, on_any_core=True)
        core.custody.name_of = endpoint.key_name
        _serve(core, endpoint, stop, say)


def _serve(
    core: RobotCore,
    endpoint: Endpoint,
    stop: Callable[[], bool],
    say: Callable[[Event], None] | None = None,
) -> None:
    clock = MonotonicClock()
    grid = Grid(clock.now_ns())
    endpoint.receive()  # what came while kernels were loading is not worth a look
    events_due_ns = clock.now_ns()
    while not stop():
        left_ms = (grid.next_ns - STEP_NS + _WAKE_NS - clock.now_ns()) / NS_PER_MS
        for received_ns, packet, peer in endpoint.receive_from(max(left_ms, 0.0)):
            _step(core, endpoint, grid.due(received_ns))
            core.receive(received_ns, packet, peer)
        _step(core, endpoint, grid.due(clock.now_ns()))
        if say is not None and clock.now_ns() >= events_due_ns:
            events_due_ns = clock.now_ns() + _EVENTS_NS
            for event in (*core.events(), *endpoint.events()):
                say(event)


def _step(core: RobotCore, endpoint: Endpoint, times: range) -> None:
    for time_ns in times:
        for packet in core.step(time_ns):
            endpoint.send(packet)
