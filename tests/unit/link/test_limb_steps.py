"""How far limbs' setpoints are from earlier ones, against plain sums."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.link.limb_steps import LimbSteps
from app.link.schema import Schema

SCHEMA = Schema(build_robot_model(load_robot("ursula")))
SEGMENTS = SCHEMA.segment_start[-1]


def test_steps_are_sums_and_greatest_changes_of_each_limb():
    rng = np.random.default_rng(3)
    rows, earlier = rng.normal(size=(2, SEGMENTS, 3))
    motion, change = LimbSteps(SCHEMA).measure(rows, earlier)
    for limb in SCHEMA.all_limbs:
        own = SCHEMA.rows(limb)
        step = np.abs(rows - earlier)[own]
        levers = [SCHEMA.lever(segment) for segment in range(SEGMENTS)[own]]
        bent = levers @ np.hypot(step[:, 0], step[:, 1])
        assert motion[limb] == pytest.approx(bent + step[:, 2].sum(), rel=1e-12)
        # 1 mm of extension counts as 0.01 rad
        assert change[limb] == (step * [1.0, 1.0, 10.0]).max()


def test_rows_may_lie_anyhow_in_memory():
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(SEGMENTS, 3))
    still = np.zeros((SEGMENTS, 3))
    steps = LimbSteps(SCHEMA)
    assert steps.measure(np.asfortranarray(rows), still) == steps.measure(rows, still)
