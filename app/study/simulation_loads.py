"""What drives a simulated tree: a case's schedules as generalised forces.

Each load gives its forces in two ways: `set_inputs` before the motion is computed (what
depends on time alone), `add` behind it (what depends on where the tree is, with its
implicit share). Values in between and channels are kept for the recording.
"""

import math

import numpy as np

from app.config.case import CaseParameters
from app.config.case_loads import (
    InternalLoad,
    Schedule,
    Tendon,
    TipLoad,
)
from app.config.tree import LimbPlan, TreePlan, named_limbs
from app.errors import ConfigError
from models.numerics import FloatArray
from models.strand import (
    add_strands,
    add_tension,
    allocate_strand_data,
    allocate_strand_work,
    strand_geometry,
)
from models.strand_builder import Route, helical_route, make_strands
from models.tree import TreeData, TreeModel, TreeWork

__all__ = [
    "CODE_SECTIONS",
    "PlainLoad",
    "break_times",
    "make_loads",
    "strain_nodes",
    "value_at",
]

CODE_SECTIONS = 50
"""Of an arm in Renda's published code, by which a moment is recruited."""
_GAUSS = 0.5 / math.sqrt(3.0)


class PlainLoad:
    """Base of a load: nothing but what it overrides."""

    channels: list[tuple[str, str]]
    """Name and unit of each value it records."""
    own_steps: str = ""
    """What of it has a state that its steps alone advance, in words; "" = nothing: the
    forces at period 0 are then those of the equations of motion."""

    def set_inputs(self, time_s: float, data: TreeData) -> None:
        """Add to `data.applied` and `data.wrench`, which are cleared before."""

    def add(self, period: float, data: TreeData, work: TreeWork) -> None:
        """Add to load and matrix; a period of 0 wants the plain forces."""

    def finish(self, period: float, work: TreeWork) -> str:
        """End the step with the velocity change in `work.change`; a fault in words."""
        return ""

    def energy(self, data: TreeData) -> tuple[float, float]:
        """Kinetic and elastic energy that it holds itself [J]."""
        return 0.0, 0.0

    def values(self) -> list[float]:
        """What acts now, one for each channel."""
        return []


def value_at(schedule: Schedule, key: str, time_s: float) -> FloatArray:
    """Value of a schedule at a time: between its rows by a line, or the last one."""
    times = np.asarray(schedule.time_s)
    table = np.asarray(getattr(schedule, key), dtype=float)
    if schedule.between == "step":
        row = max(int(np.searchsorted(times, time_s, side="right")) - 1, 0)
        return np.atleast_1d(table[row])
    columns = table.reshape(times.size, -1)
    return np.array([np.interp(time_s, times, column) for column in columns.T])


def break_times(case: CaseParameters, seconds: float) -> list[float]:
    """Times inside a run at which a load jumps or bends [s]."""
    times: set[float] = set()
    for table in (
        *case.tendons, *case.internal_loads, *case.chambers, *case.tip_loads,
        *case.propellers,
    ):  # fmt: skip
        times.update(table.time_s)
    fronts = CODE_SECTIONS if case.physics.is_code("recruitment") else 1
    for moment in case.moments:
        parts = moment.recruit_s * np.arange(fronts + 1) / fronts
        times.update((moment.start_s + parts).tolist())
    if case.stroke is not None:
        times.add(case.stroke.ramp_s)
    return sorted(time for time in times if 0.0 < time < seconds)


def strain_nodes(model: TreeModel, element: int) -> list[tuple[int, int, float, float]]:
    """Gauss nodes of an element: step, side, abscissa in it [m], weight [m]."""
    nodes = []
    first, stop = model.element_step_start[element : element + 2]
    for step in range(int(first), int(stop)):
        length = float(model.step_length[step])
        end = float(model.point_abscissa[step])
        for side in (0, 1):
            at = end - length * (0.5 - (2 * side - 1) * _GAUSS)
            nodes.append((step, side, at, 0.5 * length))
    return nodes


class _Applied(PlainLoad):
    """Loads that are constant rows over the coordinates, weighed over time."""

    def __init__(
        self,
        schedule: Schedule,
        key: str,
        rows: FloatArray,
        channels: list[tuple[str, str]],
    ) -> None:
        """Keep (channels, N) rows: generalised force for a unit of each channel."""
        self.channels = channels
        self._schedule, self._key, self._rows = schedule, key, rows
        self._now = np.zeros(len(channels))

    def set_inputs(self, time_s: float, data: TreeData) -> None:
        """Add the rows, weighed by the schedule."""
        self._now = value_at(self._schedule, self._key, time_s)
        data.applied[:] += self._now @ self._rows

    def values(self) -> list[float]:
        """Return the scheduled values."""
        return [float(value) for value in self._now]


class _TipWrench(PlainLoad):
    """A force and moment at limb tips, in the hull frame."""

    def __init__(self, load: TipLoad, limbs: list[LimbPlan]) -> None:
        self._load, self._tips = load, [limb.tip for limb in limbs]
        names = ", ".join(limb.limb.name for limb in limbs)
        self.channels = []
        self._keys: list[tuple[str, int]] = []
        for key, unit, place in (("moment_n_m", "N m", 0), ("force_n", "N", 3)):
            if getattr(load, key) is not None:
                self._keys.append((key, place))
                self.channels += [(f"tip {axis} on {names}", unit) for axis in "xyz"]
        self._now: list[float] = []

    def set_inputs(self, time_s: float, data: TreeData) -> None:
        """Add to the wrench on the end of each tip's element."""
        self._now = []
        for key, place in self._keys:
            value = value_at(self._load, key, time_s)
            for tip in self._tips:
                data.wrench[tip, place : place + 3] += value
            self._now += value.tolist()

    def values(self) -> list[float]:
        """Return the scheduled values."""
        return self._now


class _Tendons(PlainLoad):
    """Tendons of a case: strands with a prescribed tension, or an elastic winch."""

    def __init__(self, plan: TreePlan, tendons: tuple[Tendon, ...]) -> None:
        self._model = plan.model
        passes: list[list[tuple[int, Route]]] = []
        self._owner: list[Tendon] = []
        self.channels = []
        for tendon in tendons:
            for limb in named_limbs(plan, tendon.limbs, "tendons"):
                passes.append(_tendon_path(limb, tendon))
                self._owner.append(tendon)
                self.channels.append(
                    (f"tendon {limb.limb.name} {tendon.azimuth_deg:g} deg", "N")
                )
        wound = [tendon.pull_mm is not None for tendon in self._owner]
        friction = np.array([tendon.friction for tendon in self._owner])
        self._strands = make_strands(
            plan.model,
            passes,
            stiffness=np.array(
                [
                    t.stiffness_n_per_m if w else 0.0
                    for t, w in zip(self._owner, wound, strict=True)
                ]
            ),
            damping=np.array(
                [
                    t.damping_n_s_per_m if w else 0.0
                    for t, w in zip(self._owner, wound, strict=True)
                ]
            ),
            friction=friction,
        )
        self._command = allocate_strand_data(self._strands)
        self._work = allocate_strand_work(plan.model, self._strands)
        self._straight = np.array(
            [_straight_length(plan.model, path) for path in passes]
        )

    def set_inputs(self, time_s: float, data: TreeData) -> None:
        """Set tensions and lengths paid out."""
        for k, tendon in enumerate(self._owner):
            if tendon.tension_n is not None:
                self._command.tension[k] = value_at(tendon, "tension_n", time_s)[0]
            else:
                pull = 1e-3 * value_at(tendon, "pull_mm", time_s)[0]
                self._command.paid_out[k] = self._straight[k] - pull

    def add(self, period: float, data: TreeData, work: TreeWork) -> None:
        """Add the pull of all tendons."""
        strand_geometry(self._model, self._strands, data, self._work)
        add_tension(self._strands, period, self._command, self._work)
        add_strands(self._model, self._strands, self._work, work)

    def values(self) -> list[float]:
        """Return the tensions [N]."""
        return [float(value) for value in self._work.force]


def _tendon_path(limb: LimbPlan, tendon: Tendon) -> list[tuple[int, Route]]:
    """Rods that a tendon runs through, with its route in each."""
    count = len(limb.limb.segment_length_mm)
    segments = tendon.segments or count
    if segments > count:
        raise ConfigError(
            f"tendons: segments = {segments}, but the limb {limb.limb.name!r} has "
            f"{count}."
        )
    _, stop = limb.segment_span(segments - 1)
    azimuth = math.radians(tendon.azimuth_deg)
    pitch = math.radians(tendon.twist_deg) / stop
    path = []
    for piece in limb.pieces:
        end = piece.start + piece.length
        if piece.start >= stop - 1e-9:
            break
        if end > stop + 1e-9:
            raise ConfigError(
                f"tendons: one that ends behind segment {segments} of the limb "
                f"{limb.limb.name!r} ends inside one of its pieces: write strain.rods "
                '= "segment", or pieces that part there.'
            )
        near, far = (tendon.offset_ratio * limb.radius(at) for at in (piece.start, end))
        route = _route(piece.length, near, far, azimuth + pitch * piece.start, pitch)
        path.append((piece.element, route))
    return path


def _route(
    length: float, near: float, far: float, azimuth: float, pitch: float
) -> Route:
    """A route whose azimuth and distance from the axis are linear along the rod."""
    around = helical_route(1.0, azimuth, pitch)
    slope = (far - near) / length

    def route(
        abscissa: float,
    ) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        (x, y, _), (along_x, along_y, _) = around(abscissa)
        distance = near + slope * abscissa
        return (distance * x, distance * y, 0.0), (
            slope * x + distance * along_x,
            slope * y + distance * along_y,
            0.0,
        )

    return route


def _straight_length(model: TreeModel, path: list[tuple[int, Route]]) -> float:
    """Length of a tendon in the straight, unstretched limb [m]."""
    total = 0.0
    for element, route in path:
        for _, _, at, weight in strain_nodes(model, element):
            _, slope = route(at)
            total += weight * math.hypot(1.0, slope[0], slope[1])
    return total


def _internal(plan: TreePlan, load: InternalLoad) -> list[PlainLoad]:
    """Uniform moments and forces in a segment as rows over its coordinates."""
    made: list[PlainLoad] = []
    limbs = named_limbs(plan, load.limbs, "internal_loads")
    names = ", ".join(limb.limb.name for limb in limbs)
    for key, signs, unit in (
        ("bending_n_m", ((1, 1.0), (0, -1.0)), "N m"),
        ("axial_n", ((5, 1.0),), "N"),
    ):
        if getattr(load, key) is None:
            continue
        rows = np.zeros((len(signs), plan.model.dof_parent.size))
        for limb in limbs:
            count = len(limb.limb.segment_length_mm)
            if load.segment > count:
                raise ConfigError(
                    f"internal_loads: segment = {load.segment}, but the limb "
                    f"{limb.limb.name!r} has {count}."
                )
            span = limb.segment_span(load.segment - 1)
            for row, (component, sign) in zip(rows, signs, strict=True):
                row += sign * _uniform_row(plan.model, limb, span, component)
        words = ("Δx", "Δy") if key == "bending_n_m" else ("δℓ",)
        made.append(
            _Applied(
                load,
                key,
                rows,
                [(f"load {word} {names} {load.segment}", unit) for word in words],
            )
        )
    return made


def _uniform_row(
    model: TreeModel, limb: LimbPlan, span: tuple[float, float], component: int
) -> FloatArray:
    """(N,) ∫ p dX over a span for the coordinates of one strain."""
    row = np.zeros(model.dof_parent.size)
    for piece in limb.pieces:
        first, stop = model.element_dof_start[piece.element : piece.element + 2]
        for step, side, at, weight in strain_nodes(model, piece.element):
            if span[0] < piece.start + at < span[1]:
                for d in range(first, stop):
                    if model.dof_component[d] == component:
                        row[d] += weight * model.step_basis[step, side, d - first]
    return row


def make_loads(plan: TreePlan, case: CaseParameters) -> list[PlainLoad]:
    """Make everything that drives a case's robot.

    Raises:
        ConfigError: a load names what the robot has not.
    """
    loads: list[PlainLoad] = []
    if case.tendons:
        loads.append(_Tendons(plan, case.tendons))
    for internal in case.internal_loads:
        loads += _internal(plan, internal)
    for tip in case.tip_loads:
        loads.append(_TipWrench(tip, named_limbs(plan, tip.limbs, "tip_loads")))
    return loads
