"""A rig made ready to be the robot: drivers, workers, maps, and virtual devices."""

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

from app.config.loader import find_asset
from app.config.robot import RobotParameters, build_robot_model
from app.drivers.kinds import Carrier, build_driver, build_virtual
from app.drivers.worker import BusWorker
from app.errors import ConfigError
from app.robot.lines import Lines
from app.robot.plant import Plant, PlantMismatch
from app.robot.rig import Rig
from app.robot.rig_file import RigParameters, load_rig
from app.robot.virtual_world import VirtualWorld

__all__ = ["RigSession", "open_rig"]


class RigSession(NamedTuple):
    """A rig that runs.

    Attributes:
        robot: as its file gives it.
        rig: started.
    """

    robot: RobotParameters
    rig: Rig


@contextlib.contextmanager
def open_rig(
    name: str, *, virtual: bool, mismatch: PlantMismatch, seed: int
) -> Iterator[RigSession]:
    """Open a rig's buses, and close them at the end, made safe.

    Args:
        name: a shipped rig or the path of a file.
        virtual: serve the shipped virtual devices, moved by a simulated robot.
        mismatch: how that one differs from its file.
        seed: of its sensors' noise.

    Yields:
        The rig, started.

    Raises:
        ConfigError: no such rig, or its file is wrong.
        DeviceError: a bus cannot be opened.
    """
    parameters, robot = load_rig(name)
    folder = find_asset("rigs", name).parent
    model = build_robot_model(robot)
    lines = Lines(parameters, robot, model, folder)
    carriers: dict[str, Carrier] = {}
    with contextlib.ExitStack() as stack:
        workers = {}
        for bus in parameters.buses:
            line = bus.line
            if virtual:
                carrier, line = build_virtual(line)
                carriers[bus.name] = carrier
                stack.callback(carrier.close)
            workers[bus.name] = BusWorker(
                build_driver(line, bus.rate_hz),
                bus.name,
                bus.rate_hz,
                stale_s=parameters.stale_ms * 1e-3,
                safe_s=robot.safety.slack_after_ms * 1e-3,
            )
        _check_channels(parameters, workers)
        world = None
        if virtual:
            own = Lines(parameters, robot, model, folder)
            world = VirtualWorld(own, Plant(model, mismatch, seed), carriers)
        rig = Rig(
            parameters,
            robot,
            model,
            lines,
            workers,
            None if world is None else world.step,
        )
        rig.start()
        stack.callback(rig.close)
        yield RigSession(robot, rig)


def _check_channels(rig: RigParameters, workers: dict[str, BusWorker]) -> None:
    """Refuse a channel that its bus does not have.

    Raises:
        ConfigError: names the bus, the channel, and how many there are.
    """
    for part in rig.parts:
        count = len(workers[part.bus].driver.channels)
        if max(part.channels) > count:
            raise ConfigError(
                f"Bus {part.bus!r} has channels 1 to {count}, not {max(part.channels)}."
            )
