"""What is kept of a trial is what was so in each of its milliseconds."""

import math

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.control.loop import PERIOD_NS
from app.control.mailbox import Layout
from app.link.packets import Direction
from app.messages import StationMode, StationState, state_shapes
from app.study.factorial.trace import TraceLog
from app.study.factorial.trace_rows import SPANS, allocate_rows, write_rows
from app.study.task_truth import MOMENTS, allocate_moments
from app.study.task_watch import TaskWatch
from app.study.trial import START_NS, Trial
from app.study.trial_setup import TrialSetup
from models.tip import limb_tip

_COUNT = 700  # ms: armed, driving, and more than two blocks of columns


def test_every_column_is_of_its_own_millisecond() -> None:
    trial = Trial(
        TrialSetup(robot="rov-arm", link="ideal", operator="presser", task="press")
    )
    assert trial.task is not None
    limb = trial.task.limb
    watch = TaskWatch(trial, 0.0)
    log = TraceLog(trial, watch)
    rows, last = [], limb_tip(trial.model, limb, trial.true_pose)
    for number in range(_COUNT):
        trial.step()
        assert watch.take() == 1
        log.take(1)
        tip = limb_tip(trial.model, limb, trial.true_pose)
        speed = watch.run.moments.speed[number % MOMENTS]
        assert speed == pytest.approx(1e3 * math.dist(tip, last))
        last = tip
        state = trial.state
        around = trial.core.surroundings
        assert around is not None
        rows.append(
            {
                "time_s": 1e-3 * trial.ticks,
                "tip": tip,
                "hand": state.target_position[limb].copy(),
                "shown": state.tip_model[limb].copy(),
                "force_hand": state.force_hand.copy(),
                "force_tip": -around.tip_force[limb],
                "force_limb": -around.contact_wrench[limb, 3:],
                "force_told": trial.health.contact_force[limb].copy(),
                "port_energy": state.port_energy[limb],
                "injected_energy": state.injected_energy[limb],
                "mismatch": state.mismatch[limb],
                "surface_stiffness": state.surface_stiffness[limb]
                if state.surface_known[limb]
                else np.nan,
                "surface_point": state.surface_point[limb].copy(),
                "object": np.full(3, np.nan),
                "held": 0.0,
                "surface_normal": state.surface_normal[limb].copy(),
                "driving": float(
                    state.mode[0] == StationMode.ARMED and state.active_source[0] >= 0
                ),
            }
        )
    trace = log.close()
    trial.finish()
    assert len(trace) == _COUNT
    assert 0.0 < trace.driving.mean() < 1.0
    for name in rows[0]:
        wanted = np.array([row[name] for row in rows])
        np.testing.assert_array_equal(getattr(trace, name), wanted, err_msg=name)


@pytest.mark.parametrize(
    "setup",
    [
        TrialSetup(link="optical-lab", operator="presser", task="press"),
        TrialSetup(
            robot="rov-arm", link="wifi-buoy", operator="submover", task="reach"
        ),
    ],
    ids=["press", "reach"],
)
def test_ticks_together_are_the_same_trace(setup: TrialSetup) -> None:
    traces = []
    for together in (1, 4, 50):
        trial = Trial(setup)
        assert trial.task is not None
        watch = TaskWatch(trial, 0.0)
        log = TraceLog(trial, watch)
        for _ in range(3000 // together):
            trial.run(together)
            assert watch.take() == together
            log.take(together)
        traces.append(log.close())
        trial.finish()
    single, four, fifty = traces
    assert len(single.applied) > 20
    assert np.abs(np.diff(single.tip[-500:], axis=0)).max() > 0.0
    assert single.fingerprint() == four.fingerprint() == fifty.fingerprint()


def test_a_trace_ends_where_no_more_is_kept() -> None:
    trial = Trial(TrialSetup(link="optical-lab", operator="presser", task="press"))
    assert trial.task is not None
    watch = TaskWatch(trial, 0.0)
    log = TraceLog(trial, watch)
    for _ in range(300):
        trial.run(4)
        log.take(watch.take())
    whole = len(log.close())
    trial.run(4)
    watch.take()
    log.take(1)
    trace = log.close()
    trial.finish()
    assert len(trace) == whole + 1 == 1201
    assert trace.applied[-1, 0] <= trace.clock_zero_ns + 1201 * 1_000_000


def test_a_force_counts_from_the_millisecond_in_which_it_is_heard() -> None:
    trial = Trial(TrialSetup(operator="presser", task="press"))
    watch = TaskWatch(trial, 0.0)
    log = TraceLog(trial, watch)
    trial.witness = None  # only this is heard
    for force, tick in ((1.0, 2), (2.0, 4)):
        trial.health.contact_force[watch.limb] = force
        log.arrived(START_NS + tick * PERIOD_NS, Direction.UP)
    trial.run(5)
    log.take(watch.take())
    trace = log.close()
    trial.finish()
    assert trace.force_told[:, 2].tolist() == [0.0, 1.0, 1.0, 2.0, 2.0]


def test_driving_is_armed_with_a_hand_or_a_goal() -> None:
    model = build_robot_model(load_robot("rov-arm"))
    rows = allocate_rows(model, 0, allocate_moments(), 4, touches=False)
    words = Layout(StationState, state_shapes(model)).words
    states = np.zeros((4, words), dtype=np.int64)
    states[:, rows.mode] = [StationMode.ARMED, StationMode.ARMED, 0, 0]
    states[:, rows.source] = [2, -1, 2, -1]
    for given, wanted in ((False, [1, 0, 0, 0]), (True, [1, 1, 0, 0])):
        write_rows(rows, states, states.view(np.float64), 0, 0, given)
        assert rows.table[:, SPANS["driving"]].ravel().tolist() == wanted


def test_nothing_taken_is_an_empty_trace() -> None:
    trial = Trial(TrialSetup(operator="presser", task="press"))
    trace = TraceLog(trial, TaskWatch(trial, 0.0)).close()
    trial.finish()
    assert len(trace) == 0
    assert trace.hand.shape == (0, 3)
