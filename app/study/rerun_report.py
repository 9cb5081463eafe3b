"""A rerun under other settings beside the recorded ones: a table, a CSV, pictures."""

import base64
import csv
import html
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from app.errors import ConfigError
from app.study.rerun import Drive, Rerun
from app.study.rerun_figures import FIGURES
from app.teleop.strategy import strategy_named
from models.numerics import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["NO_REACTION", "comparison_rows", "settings_rows", "write_report"]

NO_REACTION = (
    "The operator does not react: it does what it did in the recording, whatever it is "
    "shown. What a person would have done otherwise is not in these figures. Where it "
    "was armed and is not, its hand waits while arming is pressed again."
)
_COLORS = ("#2f6fc0", "#c8432f")


def _named(drive: Drive) -> dict[str, str]:
    setup = drive.setup
    link = setup.link if isinstance(setup.link, str) else setup.link.name
    scene = setup.scene
    if not isinstance(scene, str):
        scene = "open water" if scene is None else scene.name
    factors = [
        f"{name} {value:g}"
        for name, value in vars(setup.mismatch).items()
        if value != 1.0
    ]
    return {
        "strategy": strategy_named(setup.teleop.strategy).title,
        "link": link,
        "scene": Path(scene).stem,
        "robot mismatch": ", ".join(factors) or "none",
        "seed": str(setup.seed),
    }


def settings_rows(result: Rerun) -> list[tuple[str, str, str]]:
    """Return name, recorded and changed setting of each."""
    recorded = _named(result.recorded)
    changed = _named(result.changed or result.recorded)
    return [(name, recorded[name], changed[name]) for name in recorded]


def _shown(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4g}"


def comparison_rows(result: Rerun) -> list[tuple[str, str, str, str, str, str]]:
    """Return name, unit, recorded, changed, change and meaning of each figure."""
    changed = result.changed or result.recorded
    rows = []
    for name, unit, meaning in FIGURES:
        was, came = result.recorded.figures[name], changed.figures[name]
        rows.append(
            (name, unit, _shown(was), _shown(came), _shown(came - was), meaning)
        )
    before, after = result.recorded.waited_s, changed.waited_s
    rows.append(
        (
            "waited",
            "s",
            _shown(before),
            _shown(after),
            _shown(after - before),
            "time that the hand waited to be armed",
        )
    )
    apart = _apart(result)
    rows.append(
        (
            "path_apart_rms",
            "mm",
            "0",
            _shown(float(np.sqrt(np.mean(apart**2))) if apart.size else math.nan),
            "",
            "robot's tip from where it was with the recorded settings, same instant",
        )
    )
    return rows


def _apart(result: Rerun) -> FloatArray:
    """Distance of the two robots' tips at each sample that both have [mm]."""
    changed = result.changed or result.recorded
    both = (result.recorded.traces.tip, changed.traces.tip)
    shared = min(len(tips) for tips in both)
    one, other = (np.array(tips[:shared]).reshape(-1, 3) for tips in both)
    apart: FloatArray = 1e3 * np.linalg.norm(other - one, axis=1)
    return apart


def write_report(result: Rerun, out: Path) -> None:
    """Write the comparison: HTML with everything, PNG with the traces, or CSV.

    Args:
        result: with changed settings.
        out: file to write; its ending says which.

    Raises:
        ConfigError: another ending, or it cannot be written.
    """
    if out.suffix not in {".html", ".png", ".csv"}:
        raise ConfigError(f"--report {out}: give it the ending .html, .png or .csv.")
    try:
        if out.suffix == ".csv":
            _write_csv(result, out)
        elif out.suffix == ".png":
            _draw(result).savefig(out, dpi=130)
        else:
            out.write_text(_page(result), encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"{out} cannot be written: {error.strerror}. Choose another place."
        ) from error


def _write_csv(result: Rerun, out: Path) -> None:
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("figure", "unit", "recorded", "changed", "change", "meaning"))
        for name, was, came in settings_rows(result):
            writer.writerow((name, "", was, came, "", "setting"))
        writer.writerows(comparison_rows(result))


def _draw(result: Rerun) -> "Figure":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 9.0), layout="constrained")
    FigureCanvasAgg(figure)
    rows = figure.subplots(4, 1, sharex=True)
    drives = [("recorded settings", result.recorded)]
    if result.changed is not None:
        drives.append(("changed settings", result.changed))
    for color, (label, drive) in zip(_COLORS, drives, strict=False):
        _draw_drive(list(rows), drive, label, color)
    apart = _apart(result)
    rows[1].plot(
        result.recorded.traces.times[: apart.size], apart, color="#39444c", lw=0.8
    )
    rows[0].set_ylabel("tip, hull frame [mm]")
    rows[1].set_ylabel("tips apart [mm]")
    rows[2].set_ylabel("contact (solid),\nhand (dotted) [N]")
    rows[3].set_ylabel("age of pose [ms]")
    rows[3].set_xlabel("time [s]")
    rows[0].legend(loc="upper right", fontsize=8)
    for axes in rows:
        axes.grid(alpha=0.25)
    figure.suptitle("A recorded operator, driven again: it does not react", fontsize=11)
    return figure


def _draw_drive(rows: "list[Axes]", drive: Drive, label: str, color: str) -> None:
    traces = drive.traces
    tip = 1e3 * np.array(traces.tip).reshape(-1, 3)
    for axis, style in enumerate(("-", "--", ":")):
        rows[0].plot(
            traces.times,
            tip[:, axis],
            style,
            color=color,
            lw=1.0,
            label=f"{label}, {'xyz'[axis]}",
        )
    rows[2].plot(traces.times, traces.contact, color=color, lw=1.0)
    rows[2].plot(traces.times, traces.hand, ":", color=color, lw=1.0)
    rows[3].plot(traces.times, traces.age, color=color, lw=0.8)


def _page(result: Rerun) -> str:
    picture = io.BytesIO()
    _draw(result).savefig(picture, dpi=110, format="png")
    image = base64.b64encode(picture.getvalue()).decode()
    settings = _rows(settings_rows(result), ("setting", "recorded", "changed"))
    heads = ("figure", "unit", "recorded", "changed", "change", "meaning")
    figures = _rows(comparison_rows(result), heads)
    name = html.escape(result.session.recording.path.name)
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        f"<title>Rerun of {name}</title><style>body{{font:15px system-ui,sans-serif;"
        "max-width:70em;margin:2em auto;color:#222}table{border-collapse:collapse;"
        "margin:1em 0}td,th{padding:.25em .8em;border-bottom:1px solid #ddd;"
        "text-align:left}img{max-width:100%}</style>"
        f"<h1>Rerun of {name}</h1><p><strong>{html.escape(NO_REACTION)}</strong></p>"
        f"{settings}{figures}<img alt='traces' src='data:image/png;base64,{image}'>"
        "</html>\n"
    )


def _rows(rows: Sequence[tuple[str, ...]], heads: tuple[str, ...]) -> str:
    head = "".join(f"<th>{item}</th>" for item in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(item)}</td>" for item in row) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"
