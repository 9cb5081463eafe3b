"""Calibration of a chamber: samples in a CSV file to a fitted model in a TOML file.

The CSV file has a header with the columns pressure_kpa (gauge) and length_mm, in any
order and beside any others, and a row for each sample in time order: at least one slow
loading and unloading over the whole range; with minor loops the model foretells those
better (models/hysteresis). Empty lines and lines that begin with # are passed over.
"""

import csv
import itertools
import math
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from app.config.loader import Parameters, load_toml
from app.errors import ConfigError
from models.hysteresis import (
    AFTER_FALLING,
    AFTER_RISING,
    VIRGIN,
    HysteresisModel,
    hysteresis_history,
    initial_plays,
)
from models.hysteresis_fit import HysteresisFit, fit_hysteresis
from models.numerics import FloatArray

__all__ = [
    "ChamberCalibration",
    "build_hysteresis_model",
    "calibrate",
    "draw_calibration",
    "fit_samples",
    "load_calibration",
    "read_samples",
    "save_calibration",
    "starting_plays",
]

_COLUMNS = ("pressure_kpa", "length_mm")
_LEAST_ROWS = 40
_STARTS: dict[int, Literal["after falling", "after rising", "virgin"]] = {
    AFTER_FALLING: "after falling",
    AFTER_RISING: "after rising",
    VIRGIN: "virgin",
}


class ChamberCalibration(Parameters):
    """The fitted pressure-length model of one chamber, as its TOML file holds it."""

    source: str
    """Name of the CSV file."""
    samples: Annotated[int, Field(ge=1)]
    error_rms_mm: Annotated[float, Field(ge=0.0)]
    error_greatest_mm: Annotated[float, Field(ge=0.0)]
    pressure_range_kpa: tuple[float, float]
    """Within which the model was fitted."""
    start: Literal["after falling", "after rising", "virgin"]
    """What went before the first sample."""
    threshold_kpa: Annotated[tuple[float, ...], Field(min_length=1)]
    weight: Annotated[tuple[Annotated[float, Field(ge=0.0)], ...], Field(min_length=1)]
    knot_kpa: Annotated[tuple[float, ...], Field(min_length=2)]
    length_mm: Annotated[tuple[float, ...], Field(min_length=2)]

    @model_validator(mode="after")
    def _can_be_inverted(self) -> Self:
        if len(self.threshold_kpa) != len(self.weight):
            raise ValueError("threshold_kpa and weight must be equally long")
        if len(self.knot_kpa) != len(self.length_mm):
            raise ValueError("knot_kpa and length_mm must be equally long")
        if self.threshold_kpa[0] != 0.0 or not _rises(self.threshold_kpa):
            raise ValueError("threshold_kpa must begin with 0.0 and rise")
        if not self.weight[0] > 0.0:
            raise ValueError("the first weight must be above zero")
        if not _rises(self.knot_kpa):
            raise ValueError("knot_kpa must rise")
        if not (_rises(self.length_mm) or _rises(self.length_mm[::-1])):
            raise ValueError("length_mm must rise or fall throughout")
        if not self.pressure_range_kpa[0] < self.pressure_range_kpa[1]:
            raise ValueError("pressure_range_kpa must be [least, greatest]")
        return self


def _rises(values: tuple[float, ...]) -> bool:
    return all(a < b for a, b in itertools.pairwise(values))


def read_samples(path: Path) -> tuple[FloatArray, FloatArray]:
    """Read the samples of a CSV file.

    Args:
        path: the file.

    Returns:
        Gauge pressures [Pa] and lengths [m], in time order, each (n,).

    Raises:
        ConfigError: unreadable, a column missing, a value that is no finite number, or
            too few rows; names file and line, and what to do.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}.") from error
    places: list[int] = []
    rows: list[tuple[float, float]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            cells = [cell.strip() for cell in next(csv.reader([line], strict=True))]
        except csv.Error as error:
            raise ConfigError(f"{path}: line {number}: {error}.") from error
        if not places:
            places = _places(cells, f"{path}: line {number}")
        else:
            rows.append(_row(cells, places, f"{path}: line {number}"))
    if not places:
        raise ConfigError(
            f"{path}: is empty; it needs a header {','.join(_COLUMNS)} and a row for "
            "each sample."
        )
    if len(rows) < _LEAST_ROWS:
        raise ConfigError(
            f"{path}: {len(rows)} samples, at least {_LEAST_ROWS} are needed; record "
            "one slow loading and unloading over the whole range of the pressure."
        )
    samples = np.array(rows)
    return samples[:, 0] * 1e3, samples[:, 1] * 1e-3


def _places(cells: list[str], where: str) -> list[int]:
    for column in _COLUMNS:
        if cells.count(column) != 1:
            seen = "is missing from" if column not in cells else "is twice in"
            found = ", ".join(cells)
            raise ConfigError(
                f"{where}: column {column!r} {seen} the header ({found}); columns are "
                f"parted by commas, name one {column}."
            )
    return [cells.index(column) for column in _COLUMNS]


def _row(cells: list[str], places: list[int], where: str) -> tuple[float, float]:
    values = []
    for column, place in zip(_COLUMNS, places, strict=True):
        if place >= len(cells):
            raise ConfigError(
                f"{where}: {len(cells)} cells, so {column} is missing; complete the "
                "row or remove it."
            )
        try:
            value = float(cells[place])
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ConfigError(
                f"{where}: {column} = {cells[place]!r} is not a finite number; correct "
                "it or remove the row (decimal point, no thousands separator)."
            )
        values.append(value)
    return values[0], values[1]


def fit_samples(path: Path, pressure: FloatArray, length: FloatArray) -> HysteresisFit:
    """Fit samples; `path` names them in messages.

    Raises:
        ConfigError: they do not tell how length depends on pressure.
    """
    if np.any(length <= 0.0):
        row = int(np.argmax(length <= 0.0)) + 1
        raise ConfigError(
            f"{path}: length_mm of sample {row} is {1e3 * length[row - 1]:g}; lengths "
            "of a chamber are above zero: give the whole length, not its change."
        )
    for name, values in zip(_COLUMNS, (pressure, length), strict=True):
        if np.ptp(values) == 0.0:
            raise ConfigError(
                f"{path}: {name} never changes; load and unload the chamber over the "
                "whole range of the pressure."
            )
    return fit_hysteresis(pressure, length)


def calibrate(samples: Path, out: Path, plot: Path | None = None) -> ChamberCalibration:
    """Fit the samples of a CSV file and write the calibration.

    Args:
        samples: CSV file with pressure_kpa and length_mm.
        out: TOML file to write; one that exists is replaced.
        plot: PNG file to draw the fit into, or None.

    Raises:
        ConfigError: the samples cannot be used, or a file cannot be written.
    """
    pressure, length = read_samples(samples)
    fit = fit_samples(samples, pressure, length)
    calibration = ChamberCalibration(
        source=samples.name,
        samples=len(pressure),
        error_rms_mm=_rounded(fit.error_rms * 1e3),
        error_greatest_mm=_rounded(fit.error_greatest * 1e3),
        pressure_range_kpa=(
            _rounded(float(pressure.min()) * 1e-3),
            _rounded(float(pressure.max()) * 1e-3),
        ),
        start=_STARTS[fit.start],
        threshold_kpa=_scaled(fit.model.threshold, 1e-3),
        weight=_scaled(fit.model.weight, 1.0),
        knot_kpa=_scaled(fit.model.knot, 1e-3),
        length_mm=_scaled(fit.model.length, 1e3),
    )
    save_calibration(calibration, out)
    if plot is not None:
        draw_calibration(calibration, pressure, length, plot)
    return calibration


def _rounded(value: float) -> float:
    return float(f"{value:.12g}")


def _scaled(values: FloatArray, factor: float) -> tuple[float, ...]:
    return tuple(_rounded(float(value) * factor) for value in values)


def save_calibration(calibration: ChamberCalibration, path: Path) -> None:
    """Write a calibration as TOML.

    Raises:
        ConfigError: the file cannot be written.
    """
    lines = [
        "# Pressure to length of one chamber, fitted by `limblink calibrate`.",
        "# z = sum of weight_i times play_i of the pressure; the length at z is read",
        "# off the line through (knot, length). See models/hysteresis.",
        "",
    ]
    for name, value in calibration.model_dump().items():
        lines.append(f"{name} = {_toml(value)}")
    try:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error}.") from error


def _toml(value: str | float | tuple[float, ...]) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        plain = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped)
        return f'"{plain}"'
    if isinstance(value, tuple):
        return f"[{', '.join(repr(item) for item in value)}]"
    return repr(value)


def load_calibration(path: Path) -> ChamberCalibration:
    """Read and validate a calibration.

    Raises:
        ConfigError: unreadable, not TOML, or not valid; names file, line and key.
    """
    return load_toml(path, ChamberCalibration)


def build_hysteresis_model(calibration: ChamberCalibration) -> HysteresisModel:
    """Give a calibration the form that kernels take, in SI units."""
    return HysteresisModel(
        threshold=np.array(calibration.threshold_kpa) * 1e3,
        weight=np.array(calibration.weight),
        knot=np.array(calibration.knot_kpa) * 1e3,
        length=np.array(calibration.length_mm) * 1e-3,
    )


def starting_plays(calibration: ChamberCalibration, pressure: float) -> FloatArray:
    """Return the states of the plays as they were before the samples.

    Args:
        calibration: the chamber.
        pressure: present gauge pressure [Pa].

    Returns:
        (m,) states [Pa].
    """
    start = next(key for key, text in _STARTS.items() if text == calibration.start)
    return initial_plays(np.array(calibration.threshold_kpa) * 1e3, pressure, start)


def draw_calibration(
    calibration: ChamberCalibration,
    pressure: FloatArray,
    length: FloatArray,
    path: Path,
) -> None:
    """Draw samples, fit and what is left between them into a PNG file.

    Args:
        calibration: the chamber.
        pressure: (n,) samples [Pa].
        length: (n,) samples [m].
        path: PNG file to write; one that exists is replaced.

    Raises:
        ConfigError: the file cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    model = build_hysteresis_model(calibration)
    modelled = np.empty(len(pressure))
    play = starting_plays(calibration, float(pressure[0]))
    hysteresis_history(model, pressure, play, modelled)
    loading = np.gradient(pressure) >= 0.0
    figure = Figure(figsize=(7.0, 6.5), layout="constrained")
    FigureCanvasAgg(figure)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    for rows, color, label in (
        (loading, "#d1495b", "samples, loading"),
        (~loading, "#00798c", "samples, unloading"),
    ):
        kpa = pressure[rows] * 1e-3
        upper.plot(kpa, length[rows] * 1e3, ".", ms=3, color=color, label=label)
        lower.plot(kpa, (length - modelled)[rows] * 1e3, ".", ms=3, color=color)
    upper.plot(pressure * 1e-3, modelled * 1e3, "k-", lw=1, label="fit")
    upper.set_ylabel("chamber length [mm]")
    upper.set_title(
        f"{calibration.source}: {calibration.samples} samples, "
        f"error {calibration.error_rms_mm:.3g} mm rms, "
        f"{calibration.error_greatest_mm:.3g} mm at most",
        fontsize="medium",
    )
    upper.legend()
    lower.axhline(0.0, color="k", lw=1)
    lower.set_ylabel("left over [mm]")
    lower.set_xlabel("gauge pressure [kPa]")
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
    try:
        figure.savefig(path, dpi=130, format="png")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error}.") from error
