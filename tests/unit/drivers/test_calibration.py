"""CSV files as people make them, to a calibration, its TOML file and its picture."""

import itertools

import numpy as np
import pytest

from app.drivers.calibration import (
    ChamberCalibration,
    build_hysteresis_model,
    calibrate,
    load_calibration,
    read_samples,
    save_calibration,
    starting_plays,
)
from app.errors import ConfigError
from models.hysteresis import (
    AFTER_FALLING,
    HysteresisModel,
    hysteresis_history,
    hysteresis_length,
    hysteresis_pressure,
    initial_plays,
)

_THRESHOLD = np.array([0.0, 3e3, 9e3, 20e3])
_KNOT = np.linspace(-5e3, 70e3, 16)
_CHAMBER = HysteresisModel(
    _THRESHOLD,
    np.array([0.5, 0.2, 0.2, 0.1]),
    _KNOT,
    0.1 + 0.05 * ((_KNOT + 20e3) / 90e3) ** 2,
)


def _samples(noise=0.05):
    """Two loops of 0 to 60 kPa and a minor one, lengths with noise [mm]."""
    levels = [0, 60, 0, 60, 20, 45, 0]
    parts = [np.linspace(a, b, 60) for a, b in itertools.pairwise(levels)]
    pressure = 1e3 * np.concatenate(parts)
    length = np.empty(len(pressure))
    play = initial_plays(_THRESHOLD, 0.0, AFTER_FALLING)
    hysteresis_history(_CHAMBER, pressure, play, length)
    error = noise * 1e-3 * np.random.default_rng(4).normal(size=len(length))
    return pressure, length + error


def _csv(path, pressure, length, header="pressure_kpa,length_mm"):
    rows = [
        f"{p * 1e-3:.6f},{l * 1e3:.6f}" for p, l in zip(pressure, length, strict=True)
    ]
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.fixture
def samples_file(tmp_path):
    return _csv(tmp_path / "chamber.csv", *_samples())


def test_samples_are_read_in_si_units(tmp_path):
    path = tmp_path / "a.csv"
    rows = "".join(f"\n{i},{0.5 * i}, {100 + i}" for i in range(50))
    path.write_text(
        "\ufeff# bench 3\n\ntime_s, pressure_kpa ,length_mm" + rows + "\n\n"
    )
    pressure, length = read_samples(path)
    assert np.allclose(pressure, 500.0 * np.arange(50))
    assert np.allclose(length, 0.1 + 1e-3 * np.arange(50))


def test_calibrate_writes_what_can_be_loaded_and_drawn(samples_file, tmp_path):
    out, plot = tmp_path / "chamber.toml", tmp_path / "chamber.png"
    calibration = calibrate(samples_file, out, plot)
    assert load_calibration(out) == calibration
    assert calibration.source == "chamber.csv"
    assert calibration.samples == 360
    assert calibration.start == "after falling"
    assert calibration.pressure_range_kpa == (0.0, 60.0)
    assert calibration.error_rms_mm == pytest.approx(0.05, rel=0.15)
    image = plot.read_bytes()
    assert image.startswith(b"\x89PNG")
    assert len(image) > 20_000


def test_a_loaded_calibration_foretells_and_inverts(samples_file, tmp_path):
    out = tmp_path / "chamber.toml"
    calibrate(samples_file, out)
    calibration = load_calibration(out)
    model = build_hysteresis_model(calibration)
    play = starting_plays(calibration, 0.0)
    real = initial_plays(_THRESHOLD, 0.0, AFTER_FALLING)
    for wanted in 0.112 + 0.007 * np.sin(np.linspace(0.0, 25.0, 400)):
        pressure = hysteresis_pressure(model, wanted, play)
        assert hysteresis_length(model, pressure, play) == pytest.approx(wanted)
        assert abs(hysteresis_length(_CHAMBER, pressure, real) - wanted) < 3e-4


def test_a_chamber_that_shortens_is_fitted_too(tmp_path):
    pressure, length = _samples()
    path = _csv(tmp_path / "muscle.csv", pressure, 0.3 - length)
    calibration = calibrate(path, tmp_path / "muscle.toml")
    assert calibration.length_mm[0] > calibration.length_mm[-1]
    assert calibration.error_rms_mm == pytest.approx(0.05, rel=0.15)


def _lines(count=60):
    return [f"{i % 30},{100 + i % 30}" for i in range(count)]


@pytest.mark.parametrize(
    ("header", "rows", "words"),
    [
        ("pressure,length_mm", _lines(), ["line 1", "'pressure_kpa' is missing"]),
        ("pressure_kpa;length_mm", _lines(), ["line 1", "commas"]),
        ("pressure_kpa,length_mm,length_mm", _lines(), ["line 1", "twice"]),
        (
            "pressure_kpa,length_mm",
            [*_lines(), "5.0,nan"],
            ["line 62", "length_mm = 'nan'", "remove the row"],
        ),
        (
            "pressure_kpa,length_mm",
            ["", "abc,101", *_lines()],
            ["line 3", "pressure_kpa = 'abc'"],
        ),
        ("pressure_kpa,length_mm", [*_lines(), "5.0,inf"], ["line 62", "'inf'"]),
        ("pressure_kpa,length_mm", [*_lines(), "5.0,"], ["line 62", "''"]),
        ("pressure_kpa,length_mm", [*_lines(), "5.0"], ["line 62", "1 cells"]),
        ("pressure_kpa,length_mm", [*_lines(), '"5.0,1'], ["line 62"]),
        ("pressure_kpa,length_mm", _lines(39), ["39 samples", "at least 40"]),
        ("pressure_kpa,length_mm", ["7,100"] * 50, ["pressure_kpa never changes"]),
        (
            "pressure_kpa,length_mm",
            [f"{i},100" for i in range(50)],
            ["length_mm never changes"],
        ),
        (
            "pressure_kpa,length_mm",
            [f"{i},{i}" for i in range(50)],
            ["sample 1", "whole length"],
        ),
    ],
)
def test_what_is_wrong_is_said_with_line_and_cure(tmp_path, header, rows, words):
    path = tmp_path / "bad.csv"
    path.write_text("\n".join([header, *rows]))
    with pytest.raises(ConfigError) as caught:
        calibrate(path, tmp_path / "never.toml")
    for word in ["bad.csv", *words]:
        assert word in str(caught.value)
    assert not (tmp_path / "never.toml").exists()


@pytest.mark.parametrize("content", [b"", b"\n# nothing\n", b"\xff\xfe\x00"])
def test_files_that_are_empty_or_no_text_are_refused(tmp_path, content):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"bad\.csv"):
        read_samples(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.csv: cannot be read"):
        read_samples(tmp_path / "none.csv")


def test_places_that_cannot_be_written_are_named(samples_file, tmp_path):
    with pytest.raises(ConfigError, match=r"cannot be written"):
        calibrate(samples_file, tmp_path / "no" / "a.toml")
    with pytest.raises(ConfigError, match=r"a\.png: cannot be written"):
        calibrate(samples_file, tmp_path / "a.toml", tmp_path / "no" / "a.png")


_GOOD = ChamberCalibration(
    source='a "b"\\c\t.csv',
    samples=50,
    error_rms_mm=0.1,
    error_greatest_mm=0.2,
    pressure_range_kpa=(0.0, 60.0),
    start="virgin",
    threshold_kpa=(0.0, 5.0),
    weight=(0.75, 0.25),
    knot_kpa=(0.0, 50.0),
    length_mm=(100.0, 150.0),
)


def test_saved_is_loaded_whatever_the_name(tmp_path):
    save_calibration(_GOOD, tmp_path / "a.toml")
    assert load_calibration(tmp_path / "a.toml") == _GOOD


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("threshold_kpa = [0.0, 5.0]", "threshold_kpa = [0.0]", "equally long"),
        ("threshold_kpa = [0.0, 5.0]", "threshold_kpa = [0.0, -5.0]", "rise"),
        ("threshold_kpa = [0.0, 5.0]", "threshold_kpa = [1.0, 5.0]", "begin with 0"),
        ("weight = [0.75, 0.25]", "weight = [0.0, 0.25]", "above zero"),
        ("weight = [0.75, 0.25]", "weight = [0.75, -0.25]", "weight"),
        ("knot_kpa = [0.0, 50.0]", "knot_kpa = [0.0, 0.0]", "knot_kpa must rise"),
        ("knot_kpa = [0.0, 50.0]", "knot_kpa = [0.0, 9.0, 50.0]", "equally long"),
        ("length_mm = [100.0, 150.0]", "length_mm = [100.0, 100.0]", "throughout"),
        ("length_mm = [100.0, 150.0]", "length_mm = [100.0, nan]", "length_mm"),
        ('start = "virgin"', 'start = "young"', "start"),
        ("samples = 50", "sampels = 50", "unknown key"),
        ("[0.0, 60.0]", "[60.0, 0.0]", "pressure_range_kpa"),
    ],
)
def test_a_file_changed_by_hand_is_checked(tmp_path, old, new, text):
    path = tmp_path / "a.toml"
    save_calibration(_GOOD, path)
    content = path.read_text()
    assert old in content
    path.write_text(content.replace(old, new))
    with pytest.raises(ConfigError, match=text):
        load_calibration(path)
