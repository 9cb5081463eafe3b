"""A quiet millisecond of the simulated robot is one kernel, and the same to the bit."""

import numpy as np
import pytest

from app.robot.bridge import Bridge
from app.robot.quiet import Quiet
from app.study.trial import Trial, TrialSetup
from models.numerics import FloatArray

TICKS = 4000
SETUPS = {
    "open water": TrialSetup(link="optical-lab", operator="circle"),
    "at a wall": TrialSetup(link="optical-lab", operator="presser", task="press"),
}


def drive(setup: TrialSetup) -> tuple[list[FloatArray], list[bytes]]:
    """True pose and all packets of a trial."""
    trial, poses, packets = Trial(setup), [], []
    submit = trial.channel.submit

    def note(now_ns: int, way: object, key: int, packet: bytes) -> None:
        packets.append(packet)
        submit(now_ns, way, key, packet)  # type: ignore[arg-type]

    trial.channel.submit = note  # type: ignore[assignment]
    for _ in range(TICKS):
        trial.step()
        poses.append(trial.true_pose.copy())
    trial.finish()
    return poses, packets


@pytest.mark.parametrize("name", SETUPS)
def test_quiet_milliseconds_change_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, step = [], Quiet.step
    monkeypatch.setattr(Quiet, "step", lambda *told: made.append(None) or step(*told))
    poses, packets = drive(SETUPS[name])
    assert len(made) > TICKS // 2  # most are quiet, once the robot follows
    monkeypatch.setattr(Bridge, "is_quiet", lambda self, now_ns: False)
    every_pose, every_packet = drive(SETUPS[name])
    np.testing.assert_array_equal(poses, every_pose)
    assert packets == every_packet
    assert np.abs(np.diff(poses[-500:], axis=0)).max() > 0.0
