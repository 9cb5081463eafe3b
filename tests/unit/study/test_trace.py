"""What is kept of a trial is what was so in each of its milliseconds."""

import numpy as np

from app.messages import StationMode
from app.study.factorial.trace import TraceLog
from app.study.task_watch import TaskWatch
from app.study.trial import Trial, TrialSetup

_COUNT = 700  # ms: armed, driving, and more than two blocks of columns


def test_every_column_is_of_its_own_millisecond() -> None:
    trial = Trial(
        TrialSetup(robot="rov-arm", link="ideal", operator="presser", task="press")
    )
    assert trial.task is not None
    limb = trial.task.limb
    watch, log = TaskWatch(trial, 0.0), TraceLog(trial, limb)
    rows = []
    for _ in range(_COUNT):
        trial.step()
        (truth,) = watch.take()
        log.take([truth])
        state = trial.state
        around = trial.core.surroundings
        assert around is not None
        rows.append(
            {
                "time_s": 1e-3 * trial.ticks,
                "tip": truth.tip,
                "hand": state.target_position[limb].copy(),
                "shown": state.tip_model[limb].copy(),
                "force_hand": state.force_hand.copy(),
                "force_tip": -around.tip_force[limb],
                "force_limb": -truth.force,
                "force_told": trial.health.contact_force[limb].copy(),
                "port_energy": state.port_energy[limb],
                "injected_energy": state.injected_energy[limb],
                "mismatch": state.mismatch[limb],
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


def test_nothing_taken_is_an_empty_trace() -> None:
    trial = Trial(TrialSetup(operator="presser", task="press"))
    trace = TraceLog(trial, 0).close()
    trial.finish()
    assert len(trace) == 0
    assert trace.hand.shape == (0, 3)
