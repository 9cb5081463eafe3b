"""Lengths to channel values and back, on the shipped rigs. Exact to 1e-9."""

from pathlib import Path

import numpy as np
import pytest

from app.config.robot import build_robot_model
from app.robot.lines import Lines, rest_lengths
from app.robot.rig_file import RigParameters, load_rig
from models.chamber_limits import hold_chambers

RIGS = ("ursula-dynamixel", "silver2-modbus", "rov-arm-ctrlp")
HERE = Path()


def lines_of(name: str, **changes: object):
    rig, robot = load_rig(name)
    model = build_robot_model(robot)
    rig = rig.model_copy(update=changes)
    return rig, robot, model, Lines(rig, robot, model, HERE)


@pytest.mark.parametrize("name", RIGS)
def test_every_tendon_and_chamber_has_one_channel(name: str) -> None:
    rig, _, model, lines = lines_of(name)
    rows = [lines.rows(bus.name) for bus in rig.buses]
    assert sorted(np.concatenate(rows)) == list(range(model.tendon_angle.size))
    pairs = {(lines.bus[t], int(lines.channel[t])) for t in range(len(lines.bus))}
    assert len(pairs) == model.tendon_angle.size


@pytest.mark.parametrize("name", RIGS)
def test_there_and_back(name: str) -> None:
    rig, _, model, lines = lines_of(name)
    generator = np.random.default_rng(1)
    length = lines.rest + 0.004 * generator.random(lines.rest.size)
    for bus in rig.buses:
        rows = lines.rows(bus.name)
        back = lines.to_lengths(rows, lines.to_channels(rows, length))
        assert back == pytest.approx(length[rows], abs=1e-9)
    assert model.tendon_angle.size


@pytest.mark.parametrize("name", RIGS)
def test_the_rest_posture_is_inside_all_ranges(name: str) -> None:
    """And so is a posture well away from it: ranges of the files fit their robots."""
    rig, robot, model, lines = lines_of(name)
    for scale in (1.0, 0.3):
        target = scale * model.rest_coordinates
        for limb in range(len(robot.limbs)):
            start, stop = model.limb_segment_start[limb : limb + 2]
            hold_chambers(model, limb, target[start:stop])
        length = rest_lengths(model._replace(rest_coordinates=target))
        for bus in rig.buses:
            rows = lines.rows(bus.name)
            if not len(rows):
                continue
            values = lines.to_channels(rows, length)
            if name == "ursula-dynamixel":
                assert np.abs(values).max() < 12.0
            else:
                assert values.min() >= 0.0
                assert values.max() <= 60.0


def test_sign_and_zero_of_a_winch() -> None:
    rig, _, _, plain = lines_of("ursula-dynamixel")
    first = rig.winches[0]
    turned = first.model_copy(
        update={"sign": (-1,) * 8, "zero": tuple(float(k) for k in range(8))}
    )
    _, _, _, lines = lines_of("ursula-dynamixel", winches=(turned, *rig.winches[1:]))
    rows = np.arange(8)
    length = lines.rest + 0.012  # a drum of 12 mm: one radian
    assert plain.to_channels(rows, length) == pytest.approx(np.ones(8), abs=1e-9)
    assert lines.to_channels(rows, length) == pytest.approx(np.arange(8) - 1.0)


def test_what_is_not_finite_stays_so() -> None:
    for name in RIGS:
        rig, _, _, lines = lines_of(name)
        rows = lines.rows(rig.buses[0].name)
        wanted = lines.rest.copy()
        wanted[rows[0]] = np.nan
        assert np.isnan(lines.to_channels(rows, wanted)[0])
        assert np.isfinite(lines.to_channels(rows, wanted)[1:]).all()
        measured = lines.to_channels(rows, lines.rest)
        measured[1] = np.nan
        assert np.isnan(lines.to_lengths(rows, measured)[1])


def test_a_pressure_beyond_its_range_is_never_asked_for() -> None:
    _, _, _, lines = lines_of("rov-arm-ctrlp")
    rows = np.arange(7)
    for far in (-0.5, 0.5):
        values = lines.to_channels(rows, lines.rest + far)
        assert ((values >= 0.0) & (values <= 60.0)).all()


def test_a_chamber_is_mapped_by_its_calibration(tmp_path: Path) -> None:
    (tmp_path / "fitted.toml").write_text(
        'source = "a.csv"\nsamples = 100\nerror_rms_mm = 0.1\nerror_greatest_mm = 0.2\n'
        'pressure_range_kpa = [0.0, 60.0]\nstart = "virgin"\n'
        "threshold_kpa = [0.0, 5.0]\nweight = [0.6, 0.4]\n"
        "knot_kpa = [0.0, 60.0]\nlength_mm = [100.0, 160.0]\n"
    )
    rig, robot = load_rig("rov-arm-ctrlp")
    part = rig.chambers[0].model_copy(update={"calibration": ("fitted.toml",)})
    rig = rig.model_copy(update={"chambers": (part,)})
    assert isinstance(rig, RigParameters)
    model = build_robot_model(robot)
    lines = Lines(rig, robot, model, tmp_path)
    rows = np.arange(7)
    up = lines.to_channels(rows, np.full(7, 0.130))
    lines.to_channels(rows, np.full(7, 0.159))
    down = lines.to_channels(rows, np.full(7, 0.130))
    assert up == pytest.approx(np.full(7, 32.0))  # 30 kPa, and 0.4 x 5 kPa of the play
    assert down == pytest.approx(np.full(7, 28.0))
