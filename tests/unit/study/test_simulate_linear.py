"""The linearised step of a case, against steps of the simulator itself.

Differences of 1e-5 leave 1e-6 of the greatest entry; with drives, A + B F leaves what
is of second order in the period: a quarter at half of it.
"""

from pathlib import Path

import numpy as np
import pytest

from app.cli import run
from app.config.case import CaseParameters
from app.config.robot import load_robot
from app.config.tree import build_tree
from app.study.simulation_linear import LinearStep
from app.study.simulation_run import Simulator
from models.lie import pose_exp, pose_inverse, pose_log
from models.numerics import FloatArray

_APART = 1e-5


def simulator(robot: str, made: CaseParameters, period: float) -> Simulator:
    parameters = load_robot(robot)
    return Simulator(parameters, build_tree(parameters, made), made, period)


def stepped(
    robot: str,
    made: CaseParameters,
    period: float,
    start: Simulator,
    change: FloatArray,
) -> FloatArray:
    """(2N,) state a step after that of `start`, changed by (2N,), as from `start`."""
    again = simulator(robot, made, period)
    again._steps = start._steps
    size = start._data.velocity.size
    turn, back = np.eye(4), np.eye(4)
    pose_exp(change[:6].copy(), turn)
    again._data.root_pose[:] = start._data.root_pose @ turn
    again._data.position[6:] = start._data.position[6:] + change[6:size]
    again._data.velocity[:] = start._data.velocity + change[size:]
    assert again._step()
    way = np.zeros(6)
    pose_inverse(start._data.root_pose, back)
    pose_log(back @ again._data.root_pose, way)
    return np.concatenate([way, again._data.position[6:], again._data.velocity])


def difference(
    robot: str, made: CaseParameters, period: float, seconds: float
) -> tuple[LinearStep, FloatArray, FloatArray]:
    """The linearised step after some time, its A by differences, and x1."""
    start = simulator(robot, made, period)
    for _ in start.run(seconds, seconds):
        pass
    linear = start.linearise()
    model = start.plan.model
    size = model.dof_parent.size
    kept = np.append(np.flatnonzero(model.root_free), np.arange(6, size))
    both = np.append(kept, kept + size)
    columns = []
    for k in both:
        ends = []
        for side in (_APART, -_APART):
            change = np.zeros(2 * size)
            change[k] = side
            ends.append(stepped(robot, made, period, start, change)[both])
        columns.append((ends[0] - ends[1]) / (2.0 * _APART))
    after = stepped(robot, made, period, start, np.zeros(2 * size))[both]
    return linear, np.array(columns).T, after


def test_it_is_the_step_of_a_robot_that_floats() -> None:
    made = CaseParameters.model_validate(
        {
            "title": "t",
            "base": {
                "motion": "floating",
                "velocity_mm_s": [80.0, 20.0, 0.0],
                "turn_deg_s": [5.0, 0.0, 10.0],
            },
            "tip_loads": [{"time_s": [0.0], "force_n": [[0.1, 0.0, 0.2]]}],
        }
    )
    linear, by_difference, after = difference("rov-arm", made, 1e-3, 0.05)
    count = len(linear.coordinates)
    assert linear.coordinates[:6] == (
        *("root turn x", "root turn y", "root turn z"),
        *("root shift x", "root shift y", "root shift z"),
    )
    assert linear.coordinates[6].startswith("arm")
    assert linear.A.shape == (2 * count, 2 * count)
    assert linear.B.shape == (2 * count, count)
    assert not linear.force_by_state.any()
    scale = np.abs(by_difference).max()
    np.testing.assert_allclose(linear.A, by_difference, atol=1e-6 * scale)
    np.testing.assert_allclose(linear.next_velocity, after[count:], atol=1e-12)
    np.testing.assert_allclose(linear.next_position, after[:count], atol=1e-10)


def test_what_drives_it_enters_through_the_forces() -> None:
    made = CaseParameters.model_validate(
        {
            "title": "t",
            "base": {"limb": "camera"},
            "tendons": [{"offset_ratio": 0.6, "time_s": [0.0], "pull_mm": [10.0]}],
        }
    )
    gaps = []
    for period in (1e-4, 5e-5):
        linear, by_difference, after = difference("ursula", made, period, 0.05)
        count = len(linear.coordinates)
        change = np.abs(after[count:] - linear.velocity).max()
        missed = np.abs(after[count:] - linear.next_velocity).max()
        assert missed < 0.1 * change
        alone = np.abs(linear.A - by_difference).max()
        whole = linear.A + linear.B @ linear.force_by_state
        gaps.append(np.abs(whole - by_difference).max())
        assert gaps[-1] < 0.1 * alone
    assert gaps[1] < 0.3 * gaps[0]


def test_the_command_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "deep" / "step.npz"
    words = ["simulate", "ursula", "--seconds", "0.01", "--linear"]
    assert run([*words, str(out)]) == 0
    assert "step.npz" in "".join(capsys.readouterr().out.split())
    with np.load(out) as archive:
        count = archive["coordinates"].size
        assert archive["A"].shape == (2 * count, 2 * count)
        assert archive["B"].shape == (2 * count, count)
        assert archive["position"].shape == archive["velocity"].shape == (count,)
        assert archive["period_s"] == 1e-3
        assert archive["time_s"] == pytest.approx(0.01)
    assert run([*words, str(tmp_path / "step.csv")]) == 2
    assert "ending .npz" in capsys.readouterr().err


def test_what_has_no_derivative_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = tmp_path / "ground.toml"
    case.write_text('title = "t"\n[ground]\nheight_mm = -500.0\n')
    for words, said in (
        (["monopus"], "the derivative of the mantle"),
        (["ursula", "--case", str(case)], "the derivative of contacts"),
    ):
        options = ["--seconds", "0.01", "--linear", str(tmp_path / "a.npz")]
        assert run(["simulate", *words, *options]) == 2
        assert said in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "a.npz").exists()
