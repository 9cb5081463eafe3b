"""The pulsed-jet mantle as a mesh: constants, state, work arrays.

Source: Renda 2018 secs 3 to 5 (axisymmetric Reissner shell, Kelvin-Voigt material) with
his Table 1. Elements of order 1 to 3 along the meridian carry (r, z, θ) at their nodes,
Gauss-Lobatto points, and are integrated at as many Gauss points as their order: reduced
integration, free of shear and membrane locking, without spurious modes. All forces are
slopes of discrete energies, so that momentum and energy balance to rounding on any
mesh, which the published differences do not (their edge force misses 13 % of thrust).

The mantle stands on the root: node 0, on the rigid cap's edge, moves with it. z is the
altitude along the axis, forward, 0 at the cap's edge; θ as in Renda 2018 sec. 3.1, from
-π/4 on the cap's edge to -π/2 on the cylinder. Velocities are relative to the root.

Valid for axisymmetric motion and moderate membrane strain (the law is linear in Green's
strains: a lasting hoop tension beyond 2 E h/(3√3) = 15.4 N/m has no equilibrium).
Leaves out, as Renda does: weight, lift and pitch of the shell, pressure of the water
inside, change of the added mass with the shape, contact of the shell with itself.
"""

from typing import NamedTuple

import numpy as np

from models.mantle_parameters import PAPER, MantleParameters
from models.numerics import FloatArray, IntArray
from models.star import mantle_profile

__all__ = [
    "MANTLE_COLLAPSED",
    "MANTLE_DIVERGED",
    "MANTLE_NOT_FINITE",
    "MANTLE_OK",
    "MANTLE_SINGULAR",
    "MantleData",
    "MantleModel",
    "MantleWork",
    "allocate_mantle_data",
    "allocate_mantle_work",
    "build_mantle",
]

MANTLE_OK = 0
MANTLE_NOT_FINITE = 1
MANTLE_SINGULAR = 2
MANTLE_COLLAPSED = 3
MANTLE_DIVERGED = 4

# Gauss-Lobatto places and weights on 0..1
_LOBATTO = {
    1: ((0.0, 1.0), (1 / 2, 1 / 2)),
    2: ((0.0, 0.5, 1.0), (1 / 6, 2 / 3, 1 / 6)),
    3: (
        (0.0, 0.5 - 0.05**0.5, 0.5 + 0.05**0.5, 1.0),
        (1 / 12, 5 / 12, 5 / 12, 1 / 12),
    ),
}


class MantleModel(NamedTuple):
    """Constants of one mantle: K nodes, E elements of order n, n points in each."""

    rest_position: FloatArray
    """(K, 3) r [m], z [m], θ [rad] of each node at rest."""
    abscissa: FloatArray
    """(K,) X along the meridian from the cap's edge [m]."""
    shape: FloatArray
    """(n, n+1) value of each node's function at each point of an element."""
    slope: FloatArray
    """(E, n, n+1) its derivative with X [1/m]."""
    point_area: FloatArray
    """(E, n) mid-surface that a point stands for, all around, at rest [m2]."""
    point_radius: FloatArray
    """(E, n) r at rest [m]."""
    rest_strain: FloatArray
    """(E, n, 5) rest values, to be taken off, of (r'²+z'²)/2 [1], (r/r*)²/2 [1],
    -μ λ [1/m], -r sin θ/r*² [1/m], β [1]."""
    node_area: FloatArray
    """(K,) mid-surface that a node stands for [m2]."""
    node_mass: FloatArray
    """(K,) mass and added mass [kg]."""
    node_convected: FloatArray
    """(K,) added mass without the part Ω x v [kg]."""
    node_rotary: FloatArray
    """(K,) rotary inertia [kg m2]."""
    hoop_weight: FloatArray
    """(K,) inward force of a hoop tension of 1 N/m, all around [m]."""
    radial_weight: FloatArray
    """(K,) share of each node in the radial force; sums to 1."""
    area: float
    """A_m, mid-surface at rest [m2]."""
    membrane_stiffness: float
    """2 E h/(1 - ν²) [N/m]."""
    bending_ratio: float
    """h²/3 [m2]."""
    shear_stiffness: float
    """2 h G [N/m]."""
    poisson_ratio: float
    retardation: float
    """Viscous over elastic membrane and bending stress, 3 η/E [s]."""
    shear_viscosity: float
    """2 h η [N s/m]."""
    water_density: float
    """[kg/m3]"""
    drag_coefficient: float
    """C_d."""
    flow_loss: float
    """C_f."""
    outflow_area: float
    """A_no [m2]."""
    inflow_area: float
    """A_ni [m2]."""
    volume_form: int
    """Volume whose rate drives the jet."""


class MantleData(NamedTuple):
    """State of one mantle."""

    position: FloatArray
    """(K, 3) r [m], z [m], θ [rad]; node 0 stays at rest."""
    velocity: FloatArray
    """(K, 3) relative to the root [m/s, m/s, rad/s]; node 0 stays 0."""
    surge_acceleration: FloatArray
    """(1,) of the root in the last step [m/s2]; predicts that of the next."""
    measured: FloatArray
    """(6,) of the last step: edge force on the root along the axis [N], thrust [N],
    shell drag [N], enclosed volume [m3] and its true rate [m3/s] at the step's start,
    power of the actuation [W]; forces and power are means over the step.
    All 0 of a frozen one."""
    status: IntArray
    """(1,) MANTLE_OK, or the cause for which it is frozen."""


class MantleWork(NamedTuple):
    """Arrays that a step works in, and what it hands to the root."""

    effective: FloatArray
    """(2,) force on the root along the axis [N] and mass on its surge [kg]: the root
    feels effective[0] - effective[1] · surge acceleration."""
    held: FloatArray
    """(3,) hoop tension [N/m] and radial force [N] of the step, slope of the mean drag
    with the surge acceleration [kg]."""
    band: FloatArray
    """(3K, 3n+3) rows of the lower band of the system's matrix, then its factor."""
    point_stiffness: FloatArray
    """(E, n, 5, 5) second derivatives of the elastic energy at each point."""
    strain: FloatArray
    """(2, 5, 5) slopes of the strains, then a point's matrix; their elastic part."""
    rate: FloatArray
    """(3, K, 3) accelerations of both stages, and for a unit of surge acceleration."""
    stage: FloatArray
    """(2, K, 3) position and velocity inside the step."""
    direction: FloatArray
    """(K, 3) a displacement, argument of the stiffness."""
    change: FloatArray
    """(2, K, 3) of position and velocity in the step at the predicted surge."""


class _Mesh(NamedTuple):
    """The first fields of a MantleModel."""

    rest_position: FloatArray
    abscissa: FloatArray
    shape: FloatArray
    slope: FloatArray
    point_area: FloatArray
    point_radius: FloatArray
    rest_strain: FloatArray
    node_area: FloatArray
    hoop_weight: FloatArray
    radial_weight: FloatArray


def build_mantle(
    parameters: MantleParameters = PAPER,
    *,
    elements: tuple[int, int, int] = (2, 7, 1),
    order: int = 2,
) -> MantleModel:
    """Build a mantle: a sphere cut by a rigid cap, then a cylinder.

    Args:
        parameters: `PAPER`, `PUBLISHED_CODE`, or changed ones.
        elements: on the sphere, on the cylinder up to the end of the radial band, and
            beyond it. A mesh ends where the load does.
        order: of the elements, 1 to 3.

    Returns:
        The constants.

    Raises:
        ValueError: for a parameter out of its range, no elements, or another order.
    """
    given = parameters
    end = _end_of_dome(given)
    positive = ("radius", "half_thickness", "young_modulus", "density", "added_mass")
    for name in (*positive, "outflow_area", "inflow_area", "rotary_factor"):
        value = getattr(given, name)
        if not (value > 0.0 or (name == "added_mass" and value == 0.0)):
            raise ValueError(f"{name} of a mantle is positive, not {value!r}")
    if not end <= given.band[0] < given.band[1] <= end + given.cylinder_length:
        raise ValueError("the radial band of a mantle is on its cylinder")
    if min(elements) < 1 or order not in _LOBATTO:
        raise ValueError("a mantle has elements on each part, of order 1 to 3")
    mesh = _mesh(given, elements, order)
    thickness = 2.0 * given.half_thickness
    mass = mesh.node_area * given.density * thickness
    bending_ratio = given.half_thickness**2 / 3.0
    plane = 1.0 - given.poisson_ratio**2
    shear_modulus = given.young_modulus / (2.0 * (1.0 + given.poisson_ratio))
    return MantleModel(
        **mesh._asdict(),
        node_mass=(1.0 + given.added_mass) * mass,
        node_convected=given.convected * given.added_mass * mass,
        node_rotary=given.rotary_factor * bending_ratio * mass,
        area=float(np.sum(mesh.node_area)),
        membrane_stiffness=given.young_modulus * thickness / plane,
        bending_ratio=bending_ratio,
        shear_stiffness=thickness * shear_modulus,
        poisson_ratio=given.poisson_ratio,
        retardation=3.0 * given.viscosity / given.young_modulus,
        shear_viscosity=thickness * given.viscosity,
        water_density=given.water_density,
        drag_coefficient=given.drag_coefficient,
        flow_loss=given.flow_loss,
        outflow_area=given.outflow_area,
        inflow_area=given.inflow_area,
        volume_form=given.volume_form,
    )


def _end_of_dome(given: MantleParameters) -> float:
    return given.radius * (0.5 * np.pi - given.cap_angle)


def _mesh(given: MantleParameters, elements: tuple[int, int, int], order: int) -> _Mesh:
    """Lay nodes and points on the meridian."""
    end = _end_of_dome(given)
    breaks = np.array([0.0, end, given.band[1], end + given.cylinder_length])
    lengths = np.repeat(np.diff(breaks) / elements, elements)
    node, lobatto = (np.array(values) for values in _LOBATTO[order])
    gauss, gauss_weight = np.polynomial.legendre.leggauss(order)
    gauss, gauss_weight = 0.5 * (gauss + 1.0), 0.5 * gauss_weight
    shape, slope = _lagrange(node, gauss)
    start = np.concatenate([[0.0], np.cumsum(lengths)])
    count = order * lengths.size + 1
    abscissa = np.zeros(count)
    node_area, hoop, radial = np.zeros(count), np.zeros(count), np.zeros(count)
    for e, length in enumerate(lengths):
        own = slice(order * e, order * e + order + 1)
        abscissa[own] = start[e] + length * node
        rest = mantle_profile(abscissa[own], given.radius, given.cap_angle)[:, 0]
        node_area[own] += 2.0 * np.pi * rest * lobatto * length
        hoop[own] += 2.0 * np.pi * length * (gauss_weight @ shape)
        low, high = max(start[e], given.band[0]), min(start[e + 1], given.band[1])
        if high > low:
            value, _ = _lagrange(node, (low + (high - low) * gauss - start[e]) / length)
            radial[own] += (high - low) * gauss_weight @ value
    rest_position = mantle_profile(abscissa, given.radius, given.cap_angle)
    own_nodes = order * np.arange(lengths.size)[:, None] + np.arange(order + 1)
    slopes = slope[None] / lengths[:, None, None]
    point = np.einsum("gi,eic->egc", shape, rest_position[own_nodes])
    along = np.einsum("egi,eic->egc", slopes, rest_position[own_nodes])
    radius = point[..., 0]
    return _Mesh(
        rest_position=rest_position,
        abscissa=abscissa,
        shape=shape,
        slope=slopes,
        point_area=2.0 * np.pi * radius * lengths[:, None] * gauss_weight,
        point_radius=radius,
        rest_strain=_rest_strain(radius, point[..., 2], along),
        node_area=node_area,
        hoop_weight=hoop,
        radial_weight=radial / np.sum(radial),
    )


def _rest_strain(
    radius: FloatArray, angle: FloatArray, along: FloatArray
) -> FloatArray:
    """`MantleModel.rest_strain` from r, θ and the slopes of r, z, θ at the points."""
    sine, cosine = np.sin(angle), np.cos(angle)
    stretch = cosine * along[..., 0] + sine * along[..., 1]
    return np.stack(
        [
            0.5 * (along[..., 0] ** 2 + along[..., 1] ** 2),
            np.full_like(angle, 0.5),
            -along[..., 2] * stretch,
            -sine / radius,
            cosine * along[..., 1] - sine * along[..., 0],
        ],
        axis=-1,
    )


def _lagrange(node: FloatArray, place: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values and slopes (places, nodes) of the polynomials that are 1 at one node."""
    powers = np.arange(node.size)
    coefficients = np.linalg.inv(node[:, None] ** powers)
    value = place[:, None] ** powers
    slope = np.zeros_like(value)
    slope[:, 1:] = powers[1:] * value[:, :-1]
    return value @ coefficients, slope @ coefficients


def allocate_mantle_data(model: MantleModel) -> MantleData:
    """Make a state at rest.

    Args:
        model: of the mantle.

    Returns:
        The state.
    """
    return MantleData(
        position=model.rest_position.copy(),
        velocity=np.zeros_like(model.rest_position),
        surge_acceleration=np.zeros(1),
        measured=np.zeros(6),
        status=np.zeros(1, dtype=np.int64),
    )


def allocate_mantle_work(model: MantleModel) -> MantleWork:
    """Make the arrays of a step.

    Args:
        model: of the mantle.

    Returns:
        The arrays, not set.
    """
    nodes = model.rest_position.shape[0]
    elements, points = model.point_area.shape
    return MantleWork(
        effective=np.zeros(2),
        held=np.zeros(3),
        band=np.zeros((3 * nodes, 3 * points + 3)),
        point_stiffness=np.zeros((elements, points, 5, 5)),
        strain=np.zeros((2, 5, 5)),
        rate=np.zeros((3, nodes, 3)),
        stage=np.zeros((2, nodes, 3)),
        direction=np.zeros((nodes, 3)),
        change=np.zeros((2, nodes, 3)),
    )
