"""What is kept of the simulated robot's milliseconds is what was so in each."""

import numpy as np

from app.study.trial import Trial
from app.study.trial_setup import TrialSetup


def test_every_millisecond_of_the_last_is_kept() -> None:
    trial = Trial(TrialSetup(link="optical-lab", operator="presser", task="press"))
    log, around = trial.core.truth, trial.core.surroundings
    assert log is not None
    assert around is not None
    trial.run(1500)
    rows: dict[str, list[np.ndarray]] = {name: [] for name in log._fields[1:]}
    for _ in range(700):
        trial.step()
        rows["coordinates"].append(trial.true_pose.copy())
        rows["wrench"].append(around.contact_wrench.copy())
        rows["tip_force"].append(around.tip_force.copy())
        rows["held"].append(around.data.grasp.held.copy())
        rows["place"].append(np.full(3, np.nan))
    assert np.abs(np.diff(rows["coordinates"], axis=0)).max() > 0.0
    places = log.places(trial.ticks - 256)
    assert len(places) == 256
    assert len(log.places(0)) == 256  # what is older is gone
    assert list(log.places(trial.ticks)) == []
    for name, kept in rows.items():
        np.testing.assert_array_equal(getattr(log, name)[places], kept[-256:])
    trial.finish()


def test_a_robot_in_open_water_touches_nothing() -> None:
    trial = Trial(TrialSetup(link="ideal", operator="circle"))
    log = trial.core.truth
    assert log is not None
    trial.run(300)
    places = log.places(trial.ticks - 100)
    assert not log.wrench[places].any()
    assert np.all(log.held[places] == -1)
    np.testing.assert_array_equal(log.coordinates[places[-1]], trial.true_pose)
    trial.finish()
