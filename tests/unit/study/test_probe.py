"""The impedance that strategies show, against what can be worked out by hand."""

import math

import pytest

from app.config.teleop import TeleopParameters
from app.study.harness.probe import SHOWN_AT_MS, measure_probes

DELAYS = (1.0, SHOWN_AT_MS)


def test_a_model_shows_a_soft_wall_at_any_delay() -> None:
    parameters = TeleopParameters(strategy="model-mediated")
    found = measure_probes(parameters, DELAYS)["150 N/m"]
    assert max(found["error"]) < 0.05
    assert found["least_port_j"] > -1e-4  # E_inj below 0.1 mJ
    assert len(found["time_s"]) == len(found["net_j"]) > 100


def test_position_position_shows_the_coupling_in_series_with_the_wall() -> None:
    parameters = TeleopParameters(strategy="position-position")
    found = measure_probes(parameters, DELAYS)
    for name, stiffness in (("150 N/m", 150.0), ("2000 N/m", 2000.0)):
        series = 1.0 / (1.0 / 200.0 + 1.0 / stiffness)
        wanted = math.log10(stiffness / series)
        assert found[name]["error"][0] == pytest.approx(wanted, abs=0.06)
        slowest = series / (2.0 * math.pi * 0.1)
        assert found[name]["impedance"][0] == pytest.approx(slowest, rel=0.05)
