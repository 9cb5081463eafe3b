"""The whole way from a gamepad's stick to the bytes of devices, and what if they fail.

Real processes, a link of 0.6 s, virtual devices that speak the real bytes. Where a
device is to fail it is served by the test, and the robot's process sees a real port.
"""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from app.drivers.servo_parameters import DynamixelParameters, virtual_dynamixel
from app.messages import RobotState
from app.session import open_log
from tests.system.rig import View, running_session, wait_for

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]

RIGS = {
    "ursula-dynamixel": "ursula",
    "silver2-modbus": "silver2",
    "rov-arm-ctrlp": "rov-arm",
}


def _follows(view: View) -> bool:
    return (
        view.health.robot_state[0] == RobotState.ACTIVE
        and view.health.robot_epoch[0] == view.state.arm_epoch[0]
        and view.state.active_source[0] >= 0
    )


@pytest.mark.parametrize("name", RIGS)
def test_a_stick_moves_the_limb_through_every_byte(name: str, tmp_path: Path) -> None:
    log = tmp_path / "rig.mcap"
    with running_session(
        log,
        "acoustic-hs",
        "virtual-gamepad",
        RIGS[name],
        rig=name,
        virtual=True,
    ) as (session, supervisor):
        view = View(session)
        wait_for("the robot follows", lambda: _follows(view), 90.0)
        start = view.health.confirmed_coordinates.copy()

        def moved() -> bool:
            change = np.abs(view.health.confirmed_coordinates - start)
            return bool(change.max() > 0.15)

        wait_for("the limb moves, as its devices measure", moved, 60.0)
        assert all(supervisor.running(part) for part in supervisor.names)
    recording = open_log(log)
    topics = {message.topic for message in recording.messages()}
    assert {"/state", "/frames", "/events"} <= topics or len(topics) >= 3, topics


def served_rig(folder: Path):
    """URSULA's rig on ports that the test serves; the carriers, and the rig's file."""
    text = (Path("assets/rigs") / "ursula-dynamixel.toml").read_text()
    carriers = {}
    for bus in tomllib.loads(text)["buses"]:
        line = {k: v for k, v in bus.items() if k not in {"name", "rate_hz"}}
        carrier, own = virtual_dynamixel(DynamixelParameters.model_validate(line))
        carriers[bus["name"]] = carrier
        text = text.replace(f'"{bus["port"]}"', f'"{own.port}"')
    path = folder / "served.toml"
    path.write_text(text)
    return carriers, path


@pytest.mark.parametrize("fault", ["unplugged", "silent", "stuck"])
def test_devices_that_fail_end_the_arming(fault: str, tmp_path: Path) -> None:
    carriers, path = served_rig(tmp_path)
    try:
        with running_session(tmp_path / "f.mcap", rig=str(path)) as (session, _):
            view = View(session)
            wait_for("the robot follows", lambda: _follows(view), 90.0)
            epoch = int(view.state.arm_epoch[0])
            actuators = carriers["arms"].device.actuators
            if fault == "unplugged":
                carriers["arms"].unplug()
            elif fault == "silent":
                actuators.silent[:4] = True
            else:
                actuators.stuck[:] = True
            wait_for(
                "the robot lets go by itself",
                lambda: (
                    view.health.robot_epoch[0] != epoch
                    or view.health.robot_state[0] != RobotState.ACTIVE
                ),
                30.0,
            )
    finally:
        for carrier in carriers.values():
            carrier.close()
