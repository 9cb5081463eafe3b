"""Quiet milliseconds of the simulated robot are one kernel, and the same to the bit."""

import numba
import numpy as np
import pytest

from app.config.link import load_link
from app.config.robot import load_robot, robot_names
from app.robot.core import RobotCore
from app.robot.plant import PlantMismatch
from app.robot.quiet import Quiet
from app.study.trial import Trial
from app.study.trial_setup import TrialSetup
from models.numerics import FloatArray

LINK = load_link("optical-lab")
TICKS = 4000
SETUPS = {
    "open water": TrialSetup(link="optical-lab", operator="circle"),
    "at a wall": TrialSetup(link="optical-lab", operator="presser", task="press"),
}


def drive(setup: TrialSetup, together: int) -> tuple[list[FloatArray], list[bytes]]:
    """True pose after so many ticks each, and all packets of a trial."""
    trial, poses, packets = Trial(setup), [], []
    submit = trial.channel.submit

    def note(now_ns: int, way: object, key: int, packet: bytes) -> None:
        packets.append(packet)
        submit(now_ns, way, key, packet)  # type: ignore[arg-type]

    trial.channel.submit = note  # type: ignore[assignment]
    for _ in range(TICKS // together):
        trial.run(together)
        poses.append(trial.true_pose.copy())
    trial.finish()
    return poses, packets


@pytest.mark.parametrize("name", SETUPS)
def test_quiet_milliseconds_change_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    run = Quiet.run
    monkeypatch.setattr(Quiet, "run", lambda *told: made.append(run(*told)) or made[-1])
    poses, packets = drive(SETUPS[name], 50)
    assert sum(made) > TICKS // 2  # most are quiet, once the robot follows
    assert sum(made) > 2 * len(made)  # and several go at a time
    monkeypatch.setattr(RobotCore, "_go_on", lambda *_: 0)
    every_pose, every_packet = drive(SETUPS[name], 1)
    np.testing.assert_array_equal(poses, every_pose[49::50])
    assert packets == every_packet
    assert np.abs(np.diff(every_pose[-500:], axis=0)).max() > 0.0


def test_one_kernel_serves_all_robots() -> None:
    """What is compiled for one when limblink first starts is there for the others."""
    kinds = set()
    for name in robot_names():
        robot = load_robot(name)
        core = RobotCore(robot, LINK, PlantMismatch(), 0)
        assert core._quiet is not None
        kinds.add(tuple(numba.typeof(part.held) for part in core._quiet._data))
    assert len(kinds) == 1
