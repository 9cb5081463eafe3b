"""The critical delay as the command finds it, beside what is known of it."""

import json

import pytest

from app.cli import run
from app.errors import ConfigError
from app.study.one_dof_setup import Setup
from app.study.trcrit import critical_cases, find_critical, wall_named
from app.teleop.strategy import Strategy


def told(capsys, *options):
    assert run(["trcrit", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("options", "critical_ms", "linear_ms", "tolerance_ms"),
    [
        ("position-force --share 1 --wall stiff --arm relaxed", 33.0, 33.2, 3.0),
        (
            "position-position --stiffness 1000 --damping 10 --wall soft --arm relaxed",
            31.5,
            31.6,
            2.0,
        ),
    ],
)
def test_facts_are_met(capsys, options, critical_ms, linear_ms, tolerance_ms):
    (row,) = told(capsys, "--up-to", "0.05", "--strategy", *options.split())
    assert 1e3 * row["critical_s"] == pytest.approx(critical_ms, abs=tolerance_ms)
    assert 1e3 * row["linear_s"] == pytest.approx(linear_ms, abs=0.1)
    assert row["how"] == "swings on"


def test_a_stable_strategy_has_none(capsys):
    options = "--strategy waves --wall free --arm relaxed --up-to 0.01"
    (row,) = told(capsys, *options.split())
    assert (row["critical_s"], row["linear_s"]) == (None, None)


def test_bars_are_drawn(capsys, tmp_path):
    out = tmp_path / "bars.png"
    options = "--strategy position-position --stiffness 1000 --damping 0 --wall free"
    assert run(["trcrit", *options.split(), "--up-to", "0.02", "--plot", str(out)]) == 0
    assert out.read_bytes()[:4] == b"\x89PNG"
    text = capsys.readouterr().out
    assert "position-position" in text
    assert "6.5" in text  # A3: 7.0 ± 2 ms


def test_a_light_grip_in_free_water():
    cases = critical_cases([Strategy.POSITION_POSITION], ["free"], ["light"], Setup())
    (found,) = find_critical(cases, 0.2)
    assert found.delay == pytest.approx(0.1017, abs=0.12 * 0.0933)
    assert found.linear == pytest.approx(0.0933, abs=1e-4)
    assert found.stable_again is None


def test_walls():
    name, wall = wall_named("500,2")
    assert (wall.stiffness, wall.damping) == (500.0, 2.0)
    assert "500" in name
    for wrong in ("hard", "0,1", "500", "500,-1", "nan,1"):
        with pytest.raises(ConfigError, match="--wall"):
            wall_named(wrong)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ("--arm strong", "relaxed"),
        ("--strategy best", "waves"),
        ("--share 7", "force.share"),
        ("--stiffness 0", "stiffness_n_per_m"),
    ],
)
def test_wrong_wishes_are_refused(capsys, options, word):
    assert run(["trcrit", *options.split()]) == 2
    assert word in capsys.readouterr().err
