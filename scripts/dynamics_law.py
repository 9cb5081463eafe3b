"""What a step of a tree costs, by its size: measured, fitted, plotted.

One law for all trees, of what the kernels of models/tree_motion and tree_solve loop
over: points, coordinates at points, pairs of them, and the entries of the sparse
factor. Fitted to limbs of 1 to 10 segments, roots with 1 to 8 limbs, held and free, and
rods of basis order 0 to 8; shown beside it: the plain law of each of these sweeps.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from dynamics_robots import limb_tree, measure, tree_robot
from rich.console import Console
from scipy.optimize import nnls  # noqa: TID253

from models.numerics import FloatArray
from models.strain_basis import legendre
from models.tree import TreeModel

__all__ = ["Law", "Sweep", "features", "fit_law", "measure_sweeps", "plot_law"]

TERMS = ("step", "point", "point with a bracket", "coordinate at a point",
         "pair at a point", "limb or body", "entry of the factor",
         "product in factoring")  # fmt: skip
_RICH = ("k_x", "k_y", "k_z", "q_x", "q_y", "q_z")
_PLAIN = ("k_x", "k_y", "q_z")
_ROUNDS = 15


class Sweep(NamedTuple):
    """Costs along one size."""

    title: str
    axis: str
    size: FloatArray
    cost: FloatArray
    """Median of each [µs]."""
    term: FloatArray
    """(n, T) features of each."""


class Law(NamedTuple):
    """cost [µs] = term · coefficient."""

    coefficient: FloatArray
    worst: float
    """Greatest relative deviation from what was measured."""
    middle: float
    """Median of it."""

    def text(self) -> str:
        """The law in words, in ns."""
        parts = [
            f"{1e3 * value:.0f} per {name}"
            for value, name in zip(self.coefficient, TERMS, strict=True)
            if value > 0.0
        ]
        return "ns: " + " + ".join(parts)


def features(tree: TreeModel) -> FloatArray:
    """(T,) how often a step of a tree does what costs.

    Args:
        tree: the tree.

    Returns:
        The counts, in the order of `TERMS`.
    """
    points = np.diff(tree.element_step_start)
    own = np.diff(tree.element_dof_start)
    depth = np.zeros(tree.dof_parent.size)
    for d, parent in enumerate(tree.dof_parent):
        depth[d] = 1.0 if parent < 0 else depth[parent] + 1.0
    return np.array(
        [
            1.0,
            np.sum(points),
            np.sum(points * tree.element_varies),
            np.sum(points * own),
            np.sum(points * own * (own + 1) / 2),
            points.size,
            np.sum(depth),
            np.sum(depth * (depth + 1) / 2),
        ]
    )


def _trees() -> list[tuple[str, str, list[tuple[int, TreeModel]]]]:
    """Title, axis, and sizes with their trees, of each sweep."""

    def rod(strains: tuple[str, ...], order: int) -> TreeModel:
        return limb_tree(1, basis=legendre(dict.fromkeys(strains, order)), points=10)

    segments, limbs, orders = range(1, 11), range(1, 9), range(9)
    held = [(n, limb_tree(2, n)) for n in limbs]
    free = [(n, limb_tree(2, n, floating=True)) for n in limbs]
    return [
        ("one limb", "segments", [(n, limb_tree(n)) for n in segments]),
        ("limbs of 2 segments, root held", "limbs", held),
        ("limbs of 2 segments, root free", "limbs", free),
        (
            "a rod, 3 strains",
            "order of the basis",
            [(n, rod(_PLAIN, n)) for n in orders],
        ),
        (
            "a rod, 6 strains",
            "order of the basis",
            [(n, rod(_RICH, n)) for n in orders],
        ),
    ]


def measure_sweeps(console: Console) -> list[Sweep]:
    """Measure a step along each size.

    All trees take turns, so that a slow spell of the machine meets all of them.

    Args:
        console: for progress.

    Returns:
        Segments of a limb; limbs on a root, held and free; basis order of a rod with
        three and with six strains.
    """
    listed = _trees()
    robots = [
        tree_robot(title, tree) for title, _, trees in listed for _, tree in trees
    ]
    cost = np.empty((_ROUNDS, len(robots)))
    for k in range(_ROUNDS):
        console.print(f"dynamics: cost of {len(robots)} trees, {k + 1} of {_ROUNDS}")
        for n, robot in enumerate(robots):
            batch = int(np.clip(3000 / (1 + robot.tree.dof_parent.size), 50, 600))
            cost[k, n] = measure(robot, 1, batch)[0]
    middle = iter(np.median(cost, axis=0))
    return [
        Sweep(
            title,
            axis,
            np.array([size for size, _ in trees], dtype=float),
            np.array([next(middle) for _ in trees]),
            np.array([features(tree) for _, tree in trees]),
        )
        for title, axis, trees in listed
    ]


def fit_law(sweeps: list[Sweep]) -> Law:
    """Fit the law to all sweeps, by least squares of the relative deviation.

    Args:
        sweeps: of `measure_sweeps`.

    Returns:
        Coefficients, none below zero, and what they miss.
    """
    term = np.concatenate([sweep.term for sweep in sweeps])
    cost = np.concatenate([sweep.cost for sweep in sweeps])
    coefficient, _ = nnls(term / cost[:, None], np.ones(cost.size))
    miss = np.abs(term @ coefficient / cost - 1.0)
    return Law(coefficient, float(np.max(miss)), float(np.median(miss)))


def plain_law(sweep: Sweep) -> tuple[str, FloatArray]:
    """The law of one sweep: a polynomial of its size, of the third degree at most.

    Args:
        sweep: one sweep.

    Returns:
        The law in words [µs], and its values along the sweep.
    """
    n = sweep.size
    powers = np.stack([n**k for k in range(4)], axis=1)
    factor, _ = nnls(powers / sweep.cost[:, None], np.ones(n.size))
    words = " + ".join(
        f"{value:.3g}" + ("" if k == 0 else " n" if k == 1 else f" n{'²³'[k - 2]}")
        for k, value in enumerate(factor)
        if value > 1e-4
    )
    return words, powers @ factor


def plot_law(sweeps: list[Sweep], law: Law, path: Path) -> None:
    """Draw what was measured and what the laws say.

    Args:
        sweeps: of `measure_sweeps`.
        law: of `fit_law`.
        path: PNG to write.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.8, 4.4), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, 3)
    colors = {0: "#1f6fb4", 1: "#1f6fb4", 2: "#d9772b", 3: "#1f6fb4", 4: "#d9772b"}
    for number, sweep in enumerate(sweeps):
        panel = panels[(0, 1, 1, 2, 2)[number]]
        color = colors[number]
        words, _ = plain_law(sweep)
        panel.plot(
            sweep.size, sweep.cost, "o", color=color, label=f"{sweep.title}\n{words} µs"
        )
        panel.plot(sweep.size, sweep.term @ law.coefficient, "-", color=color, lw=1.2)
        panel.set_xlabel(f"{sweep.axis}, n")
    for panel in panels:
        panel.set_ylim(bottom=0.0)
        panel.set_xlim(left=0.0)
        panel.set_ylabel("processor time of a step [µs]")
        panel.legend(fontsize=8, loc="upper left", frameon=False)
        panel.grid(alpha=0.3)
    figure.suptitle(
        f"A 1 ms step of a tree: measured (dots) and one law for all (lines; within "
        f"{100 * law.worst:.0f} %, median {100 * law.middle:.0f} %)",
        fontsize=10,
    )
    figure.savefig(path)
