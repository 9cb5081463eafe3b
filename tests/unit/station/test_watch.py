"""What a person is told of changes of the control loop's state."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.control.mailbox import Layout
from app.messages import StationState, state_shapes
from app.station.watch import StateWatch
from models.environment_report import SurfaceStatus

MODEL = build_robot_model(load_robot("ursula"))
NAMES = ["grasper", "palpation", "camera", "light"]


def fresh_state() -> StationState:
    layout = Layout(StationState, state_shapes(MODEL))
    state = layout.view(np.zeros(layout.words, dtype=np.int64))
    state.active_source[0] = -1
    return state


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (SurfaceStatus.MOVED, "moved"),
        (SurfaceStatus.CHANGED, "softer or stiffer"),
        (SurfaceStatus.GONE, "gone"),
        (SurfaceStatus.NOT_EXPLAINED, "No model explains"),
    ],
)
def test_a_surface_that_is_not_as_known_is_told_once(
    status: SurfaceStatus, word: str
) -> None:
    watch, state = StateWatch(NAMES), fresh_state()
    state.surface_status[1] = SurfaceStatus.AS_KNOWN
    assert watch.step(state) == []
    state.surface_status[1] = status
    (event,) = watch.step(state)
    assert word in event.text
    assert "palpation" in event.text
    assert watch.step(state) == []


def test_a_robot_that_the_model_does_not_explain_is_told_each_time() -> None:
    watch, state = StateWatch(NAMES), fresh_state()
    told = []
    for wrong in (0, 1, 1, 0, 1):
        state.unexplained[0] = wrong
        told.append([event.text for event in watch.step(state)])
    assert [len(texts) for texts in told] == [0, 1, 0, 0, 1]
    assert "grasper" in told[1][0]
