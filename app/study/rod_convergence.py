"""How accurate a soft arm is by the basis of its strains: errors, costs, a figure.

The error of a run is the greatest distance of the tip from the converged motion, over
the whole run. Cost is counted in evaluations of the equations of motion, which no other
load on the machine changes, and in wall time for a simulated second.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from app.errors import ConfigError
from app.study.arm_cases import ARM_CASES, build_arm, run_case
from models.numerics import FloatArray
from models.strain_basis import StrainBasis, legendre

__all__ = [
    "NONE",
    "REFERENCE_ERROR",
    "SMALLEST",
    "TOLERANCE",
    "ArmError",
    "Mesh",
    "cost_table",
    "draw_convergence",
    "load_motion",
    "measure",
    "meshes",
    "refinements",
    "smallest",
]

TOLERANCE = {"A": 0.5, "B1": 0.5, "T": 0.5, "B5": 1.0, "UW": 1.0, "UV": 5.0}
"""Distance from the converged motion that is asked for [mm]."""
NONE = -1
"""Order of a strain that stays as at rest."""
REFERENCE_ERROR = {"A": 0.05, "B1": 0.02, "T": 0.03, "B5": 0.1, "UW": 0.5, "UV": 2.0}
"""Error of the converged motions themselves, as estimated with them [mm]."""
_TICKS = (3, 5, 10, 20, 40)


class Mesh(NamedTuple):
    """How an arm in the plane is resolved."""

    bend: int
    """Order of the polynomials in the curvature."""
    shear: int = NONE
    stretch: int = NONE
    pieces: int = 1
    points: int = 0
    """Mass points in each piece; 0: four more than the highest order."""

    @property
    def dofs(self) -> int:
        """Coordinates in all."""
        return self.pieces * (self.bend + self.shear + self.stretch + 3)

    @property
    def steps(self) -> int:
        """Mass points in each piece."""
        return self.points or max(self.bend, self.shear, self.stretch) + 4

    @property
    def basis(self) -> StrainBasis:
        """Strains of a piece."""
        orders = {"k_y": self.bend, "q_x": self.shear, "q_z": self.stretch}
        return legendre({name: n for name, n in orders.items() if n > NONE})

    def __str__(self) -> str:
        """Orders of curvature, shear and stretch, pieces and points."""
        orders = "/".join("-" if n < 0 else str(n) for n in self[:3])
        return f"{orders} x{self.pieces}, {self.pieces * self.steps} points"


SMALLEST = {
    "A": Mesh(4, 0, points=7),
    "B1": Mesh(5, points=7),
    "T": Mesh(6, NONE, 1, points=8),
    "B5": Mesh(8, points=10),
    "UW": Mesh(9, 6, 0, points=13),
    "UV": Mesh(7, 5, 0, points=11),
}
"""The meshes that `smallest` finds."""


class ArmError(NamedTuple):
    """What a mesh does in a case."""

    mesh: Mesh
    greatest_mm: float
    rms_mm: float
    evaluations: int
    """Of the equations of motion for a simulated second, or steps."""
    wall: float
    """For a simulated second [s]."""


def load_motion(path: Path) -> FloatArray:
    """Read a converged motion: time [s] and the tip's place [m].

    Args:
        path: CSV with a heading and the columns t_s, tip_x_m, tip_y_m first.

    Returns:
        (T, 3).

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        return np.loadtxt(path, delimiter=",", skiprows=1, usecols=(0, 1, 2))
    except (OSError, ValueError) as error:
        raise ConfigError(f"Converged motion {path}: {error}") from error


def measure(
    name: str,
    mesh: Mesh,
    motion: FloatArray,
    *,
    tolerance: float = 1e-6,
    period: float = 0.0,
) -> ArmError:
    """Run a case on a mesh and compare its tip.

    Args:
        name: of the case, a key of ARM_CASES.
        mesh: the arm's resolution.
        motion: (T, 3) the converged motion.
        tolerance: of the reference integrator.
        period: of the semi-implicit step instead [s]; 0: the reference integrator.

    Returns:
        Error and cost.
    """
    case = ARM_CASES[name]
    model = build_arm(case.arm, mesh.basis, points=mesh.steps, pieces=mesh.pieces)
    run, tip = run_case(case, model, motion[:, 0], tolerance=tolerance, period=period)
    error = 1e3 * np.hypot(*(tip - motion[:, 1:]).T)
    seconds = motion[-1, 0] - motion[0, 0]
    return ArmError(
        mesh,
        float(error.max()),
        float(np.sqrt(np.mean(error**2))),
        round(run.evaluations / seconds),
        run.wall / seconds,
    )


def meshes(dofs: int, *, most_pieces: int = 8) -> Iterator[Mesh]:
    """All meshes of so many coordinates whose curvature has the highest order."""
    for pieces in range(1, most_pieces + 1):
        if dofs % pieces:
            continue
        each = dofs // pieces
        for bend in range(each):
            for shear in range(NONE, min(bend, each - bend - 2) + 1):
                stretch = each - bend - shear - 3
                if NONE <= stretch <= bend:
                    yield Mesh(bend, shear, stretch, pieces)


def smallest(
    name: str, motion: FloatArray, *, first: int = 1, most: int = 30
) -> ArmError | None:
    """Find the mesh of fewest coordinates, and then points, that meets the tolerance.

    Points are so many that with none of the numbers above, up to eight more than the
    highest order, the tolerance is missed: no luck of errors that cancel.

    Args:
        name: of the case, a key of TOLERANCE.
        motion: (T, 3) the converged motion.
        first: fewest coordinates to try.
        most: most coordinates to try.

    Returns:
        Its error and cost; None where there is none.
    """
    for dofs in range(first, most + 1):
        found = []
        for mesh in meshes(dofs):
            finest = mesh._replace(points=mesh.steps + 4)
            best = None
            for points in range(finest.points, 1, -1):
                error = measure(name, finest._replace(points=points), motion)
                if error.greatest_mm >= TOLERANCE[name]:
                    break
                best = error
            if best is not None:
                found.append(best)
        if found:
            return min(found, key=lambda e: e.mesh.pieces * e.mesh.steps)
    return None


def refinements() -> dict[str, list[Mesh]]:
    """Meshes of the figure: higher orders in one piece, more pieces of low order."""
    lines = {
        "one piece, curvature of order 0 to 8": [
            Mesh(n, max(n - 1, 0), max(n - 1, 0)) for n in range(9)
        ]
    }
    for n, most in enumerate((8, 8, 5)):
        lines[f"1 to {most} pieces of order {n}"] = [
            Mesh(n, n, n, pieces) for pieces in range(1, most + 1)
        ]
    return lines


def cost_table(motions: dict[str, FloatArray]) -> list[str]:
    """Error and cost of the smallest mesh of each case, and of fixed steps on it.

    Args:
        motions: (T, 3) the converged motion of each case.

    Returns:
        Lines of Markdown; orders of curvature, shear and stretch, evaluations and
        milliseconds for a simulated second.
    """
    lines = [
        (
            "| case | asked | orders | coordinates | error | evaluations | ms "
            "| at 1 ms | ms | at 0.25 ms | ms |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, motion in motions.items():
        mesh = SMALLEST[name]
        exact = min((measure(name, mesh, motion) for _ in range(3)), key=_wall)
        cells = [
            *(name, f"{TOLERANCE[name]:g} mm", str(mesh), str(mesh.dofs)),
            *(f"{exact.greatest_mm:.2f} mm", f"{exact.evaluations}"),
            f"{1e3 * exact.wall:.0f}",
        ]
        for period in (1e-3, 2.5e-4):
            runs = (measure(name, mesh, motion, period=period) for _ in range(3))
            stepped = min(runs, key=_wall)
            cells += [f"{stepped.greatest_mm:.2f} mm", f"{1e3 * stepped.wall:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _wall(error: ArmError) -> float:
    return error.wall


def draw_convergence(errors: dict[str, dict[str, list[ArmError]]], out: Path) -> None:
    """Draw error against coordinates, a panel a case; grey: the reference's own error.

    Args:
        errors: by case, then by line.
        out: picture to write; its ending says PNG, PDF or SVG.

    Raises:
        ConfigError: it cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    titles = {
        "A": "A: Renda's arm, released",
        "B5": "B5: muscle wave, 5 mN m",
        "UW": "UW: URSULA's limb, released",
    }
    figure = Figure(figsize=(11.0, 4.1), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(errors), sharey=True, squeeze=False)[0]
    styles = (("o", "#1f4e79"), ("s", "#c0392b"), ("^", "#d68910"), ("D", "#1e8449"))
    for panel, (name, lines) in zip(panels, errors.items(), strict=True):
        for (line, found), (marker, color) in zip(lines.items(), styles, strict=False):
            panel.loglog(
                [e.mesh.dofs for e in found],
                [e.greatest_mm for e in found],
                marker=marker,
                color=color,
                markersize=4.5,
                linewidth=1.2,
                label=line,
            )
        panel.axhline(TOLERANCE[name], color="0.35", linewidth=0.9, linestyle="--")
        panel.axhspan(0.0, REFERENCE_ERROR[name], color="0.93", zorder=0)
        panel.set_xticks(_TICKS, [str(n) for n in _TICKS], minor=False)
        panel.set_xticks([], minor=True)
        panel.text(
            0.02, TOLERANCE[name] * 1.07, f"{TOLERANCE[name]:g} mm asked for",
            transform=panel.get_yaxis_transform(), ha="left", va="bottom",
            fontsize=8, color="0.35",
        )  # fmt: skip
        panel.set_title(titles.get(name, name), fontsize=10)
        panel.set_xlabel("coordinates")
        panel.grid(which="major", color="0.88", linewidth=0.6)
        panel.set_axisbelow(True)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    panels[0].set_ylabel("greatest tip error over the run [mm]")
    panels[0].set_ylim(bottom=8e-3)
    figure.legend(
        *panels[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize=9,
    )
    try:
        figure.savefig(out, dpi=160)
    except (OSError, ValueError) as error:
        raise ConfigError(f"Cannot write {out}: {error}") from error
