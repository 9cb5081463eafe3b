"""Peers of scripts/bench --only dynamics, each on the limb of dynamics_limb.

They are an optional group of the project: `uv sync --group peers`. Each is used as its
manual has it, at the longest step at which both cases are stable, found by trial: that
is its cheapest, and hardly less accurate than shorter ones.

- PyElastica, a Cosserat rod by finite differences, in space. The step is far above that
  of its examples; the shear factor 27/28 is set to 1, as in the reference. Water: a
  force on every element, compiled.
- SoRoMoX, the same strain basis as ours, in JAX, in the plane here. Its own
  SemiImplicitEuler, which is cheaper here at equal error than its default Tsit5, fixed
  or adaptive. It has no water: its hook for an environment gets the drag. Compiling, 15
  to 30 s each, is not counted.
- PyBullet, rigid links with springs in hinges, as in SoMo, in the plane. Springs and
  drag are set from Python at every step, which is how it is used.
"""

import importlib
import importlib.util
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
from dynamics_limb import (
    BEND,
    DENSITY,
    DRAG,
    EVERY,
    LENGTH,
    RADIUS,
    REPEATS,
    SHEAR,
    WATER,
    YOUNG,
    Run,
    reference,
    tip_error,
)

from models.numerics import FloatArray

__all__ = ["INSTALL", "PEERS", "missing"]

INSTALL = "uv sync --group peers"


def missing(module: str) -> bool:
    """Whether a peer's module is not installed."""
    return importlib.util.find_spec(module) is None


def _radius(at: Any) -> Any:
    """Of the section at a distance from the clamp [m]."""
    return RADIUS[0] + (RADIUS[1] - RADIUS[0]) * at / LENGTH


def _timed(
    case: str, step: Callable[[], None], tip: Callable[[], Any], period: float
) -> tuple[float, float]:
    """Step through a case: error [mm], and processor time of a second [s]."""
    times, _, _ = reference(case)
    place = np.full((times.size, 2), np.nan)
    place[0] = tip()
    cost = 0.0
    for k in range(1, times.size):
        begin = time.process_time()
        for _ in range(round(EVERY / period)):
            step()
        cost += time.process_time() - begin
        place[k] = tip()
        if not np.all(np.abs(place[k]) < 2.0 * LENGTH):
            return np.inf, np.inf
    return tip_error(case, place[:, 0], place[:, 1]), cost / times[-1]


def _median(program: str, size: str, *, planar: bool, each: Callable[[], Any]) -> Run:
    """One run of a peer, its cost the median of some repeats."""
    done = [each() for _ in range(REPEATS)]
    cost = float(np.median([cost for _, cost in done]))
    return Run(program, size, planar, done[0][0], cost)


# -- PyElastica ------------------------------------------------------------------------


@numba.njit(error_model="numpy")
def _element_drag(  # type: ignore[no-untyped-def]
    velocity, director, area, normal, tangent, force_out
):
    """Drag of Renda 2018 eq. 11 on each element, half to each of its nodes."""
    for k in range(area.size):
        along = speed = 0.0
        for i in range(3):
            v = 0.5 * (velocity[i, k] + velocity[i, k + 1])
            along += v * director[2, i, k]
            speed += v * v
        size = area[k] * np.sqrt(speed)
        for i in range(3):
            v = 0.5 * (velocity[i, k] + velocity[i, k + 1])
            axial = along * director[2, i, k]
            force = -size * (normal * (v - axial) + tangent * axial)
            force_out[i, k] += 0.5 * force
            force_out[i, k + 1] += 0.5 * force


def _elastica(case: str) -> list[Run]:
    """50 and 100 elements."""
    elastica: Any = importlib.import_module("elastica")

    class Limb(elastica.BaseSystemCollection, elastica.Constraints, elastica.Forcing):
        """One clamped rod in water."""

    class Drag(elastica.NoForces):
        """Of the water."""

        def __init__(self, area: FloatArray) -> None:
            self._area = area

        def apply_forces(self, system: Any, time: float = 0.0) -> None:
            _element_drag(
                system.velocity_collection, system.director_collection, self._area,
                DRAG[0], 0.5 * np.pi * DRAG[1], system.external_forces,
            )  # fmt: skip

    def run(count: int, period: float) -> tuple[float, float]:
        node = np.linspace(0.0, LENGTH, count + 1)
        middle = 0.5 * (node[1:] + node[:-1])
        normal = np.array([0.0, 0.0, 1.0])
        rod = elastica.CosseratRod.straight_rod(
            count, np.zeros(3), np.array([1.0, 0.0, 0.0]), normal, LENGTH,
            _radius(middle), DENSITY, youngs_modulus=YOUNG, shear_modulus=SHEAR,
        )  # fmt: skip
        curvature = BEND / LENGTH
        rod.position_collection[0] = np.sin(curvature * node) / curvature
        rod.position_collection[1] = (1.0 - np.cos(curvature * node)) / curvature
        for k, angle in enumerate(curvature * middle):
            axis = np.array([np.cos(angle), np.sin(angle), 0.0])
            rod.director_collection[:, :, k] = normal, np.cross(axis, normal), axis
        rod.shear_matrix[:2, :2] *= 28.0 / 27.0
        system = Limb()
        system.append(rod)
        system.constrain(rod).using(
            elastica.OneEndFixedBC,
            constrained_position_idx=(0,),
            constrained_director_idx=(0,),
        )
        if case == "UW":
            area = WATER * _radius(middle) * LENGTH / count
            system.add_forcing_to(rod).using(Drag, area)
        system.finalize()
        stepper = elastica.PositionVerlet()
        stepper.step(system, np.float64(0.0), np.float64(1e-12))  # compiles
        now, size = np.float64(0.0), np.float64(period)

        def step() -> None:
            nonlocal now
            now = stepper.step(system, now, size)

        return _timed(case, step, lambda: rod.position_collection[:2, -1], period)

    return [
        _median(
            "PyElastica", f"n = {count}, {1e3 * period:g} ms", planar=False,
            each=partial(run, count, period),
        )
        for count, period in ((50, 1e-3), (100, 6.25e-4))
    ]  # fmt: skip


# -- SoRoMoX ---------------------------------------------------------------------------


def _soromox(case: str) -> list[Run]:
    """Bending of order 2 alone; of order 4 with shear and stretch of order 2."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    from jax import numpy as jnp
    from soromox.simulation import SemiImplicitEuler
    from soromox.systems.components import JointSpec, LinearProfile, LinkSpec
    from soromox.systems.gvs import GVS, GVSSegment, StrainBasisSpec
    from soromox.systems.system_state import SystemState

    jax.config.update("jax_enable_x64", True)
    times, _, _ = reference(case)

    def run(orders: list[int], period: float) -> list[tuple[float, float]]:
        active = [int(order >= 0) for order in orders]
        points = max(5, max(orders) + 3)
        link = LinkSpec.circular(
            length=LENGTH, radius=LinearProfile(*RADIUS), density=DENSITY,
            reference_strain=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0], young_modulus=YOUNG,
            shear_modulus=SHEAR,
        )  # fmt: skip
        basis = StrainBasisSpec("legendre", active, [max(o, 0) for o in orders])
        robot = GVS.from_segments(
            [GVSSegment(link, JointSpec.fixed(), basis, points)],
            gravity=jnp.zeros(3),
            base_pose=jnp.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
        )
        size = robot.num_coordinates
        node, weight = np.polynomial.legendre.leggauss(points + 2)
        at = 0.5 * LENGTH * (node + 1.0)
        area = jnp.asarray(WATER * _radius(at) * 0.5 * LENGTH * weight)
        place = jnp.asarray(at)
        factor = jnp.array([0.5 * np.pi * DRAG[1], DRAG[0], DRAG[0]])

        def water(state: SystemState) -> tuple[Any, None]:
            q, rate = state.y[:size], state.y[size:]
            jacobian = robot.jacobian_bodyframe_abscissa_batched(q, place)[:, 3:]
            v = jacobian @ rate
            speed = jnp.sqrt(jnp.sum(v * v, axis=1))
            force = -(area * speed)[:, None] * factor * v
            return jnp.einsum("nkj,nk->j", jacobian, force), None

        def motion(start: Any) -> Any:
            return robot.rollout_to(
                SystemState(t=0.0, y=start),
                u=jnp.zeros(robot.num_actuators),
                environment_model=water if case == "UW" else None,
                t1=float(times[-1]),
                solver_dt=period,
                save_ts=jnp.asarray(times),
                solver=SemiImplicitEuler(robot),
                max_steps=100_000,
            ).y

        start = jnp.zeros(2 * size).at[0].set(BEND / LENGTH)
        compiled = jax.jit(motion).lower(start).compile()
        done = []
        for _ in range(REPEATS):
            begin = time.process_time()
            state = compiled(start).block_until_ready()
            done.append((time.process_time() - begin) / times[-1])
        tip = jax.jit(
            jax.vmap(lambda q: robot.forward_kinematics(q, jnp.asarray(LENGTH)))
        )(state[:, :size])
        error = tip_error(case, np.asarray(tip[:, 0, 3]), np.asarray(tip[:, 1, 3]))
        return [(error, cost) for cost in done]

    found = []
    # k_x k_y k_z q_x q_y q_z of theirs, x along the limb; kappa_z bends in the plane
    for words, orders, period in (
        ("bend 2", [-1, -1, 2, -1, -1, -1], 10e-3),
        ("bend 4, shear and stretch 2", [-1, -1, 4, 2, 2, -1], 2.5e-3),
    ):
        each = iter(run(orders, period))
        size = f"{words}, {1e3 * period:g} ms"
        found.append(_median("SoRoMoX", size, planar=True, each=partial(next, each)))
    return found


# -- PyBullet --------------------------------------------------------------------------


def _frustum(start: float, stop: float) -> tuple[float, float, list[float]]:
    """Mass [kg], centre [m] and moments [kg m2], axial first, of a part of the limb."""
    node, weight = np.polynomial.legendre.leggauss(6)
    at = 0.5 * (start + stop + (stop - start) * node)
    radius = _radius(at)
    share = 0.5 * (stop - start) * weight * DENSITY * np.pi * radius**2
    mass = float(np.sum(share))
    centre = float(np.sum(share * at)) / mass
    across = float(np.sum(share * (0.25 * radius**2 + (at - centre) ** 2)))
    axial = float(np.sum(0.5 * share * radius**2))
    return mass, centre, [axial, across, across]


class _Chain:
    """A clamped half link, then hinges with springs and links between them."""

    def __init__(self, count: int, period: float, *, water: bool) -> None:
        import pybullet

        self._bullet, self._water = pybullet, water
        self._links = list(range(count))
        link = LENGTH / count
        hinge = (np.arange(count) + 0.5) * link
        end = np.append(hinge[1:], LENGTH)
        parts = [_frustum(a, b) for a, b in zip(hinge, end, strict=True)]
        self._body = pybullet.createMultiBody(
            baseMass=0.0,
            linkMasses=[mass for mass, _, _ in parts],
            linkCollisionShapeIndices=[-1] * count,
            linkVisualShapeIndices=[-1] * count,
            linkPositions=[[x, 0.0, 0.0] for x in np.diff(hinge, prepend=0.0)],
            linkOrientations=[[0.0, 0.0, 0.0, 1.0]] * count,
            linkInertialFramePositions=[
                [part[1] - a, 0.0, 0.0] for part, a in zip(parts, hinge, strict=True)
            ],
            linkInertialFrameOrientations=[[0.0, 0.0, 0.0, 1.0]] * count,
            linkParentIndices=self._links,
            linkJointTypes=[pybullet.JOINT_REVOLUTE] * count,
            linkJointAxis=[[0.0, 0.0, 1.0]] * count,
        )
        pybullet.setGravity(0.0, 0.0, 0.0)
        pybullet.setTimeStep(period)
        for i, (_, _, inertia) in enumerate(parts):
            pybullet.changeDynamics(
                self._body, i, linearDamping=0.0, angularDamping=0.0, jointDamping=0.0,
                localInertiaDiagonal=inertia, maxJointVelocity=1e4,
            )  # fmt: skip
            pybullet.resetJointState(self._body, i, BEND / count)
        pybullet.setJointMotorControlArray(
            self._body, self._links, pybullet.VELOCITY_CONTROL, forces=[0.0] * count
        )
        self._spring = 0.25 * np.pi * YOUNG * _radius(hinge) ** 4 / link
        middle = 0.5 * (hinge + end)
        self._end = end[-1] - hinge[-1]
        self._arm = middle - [centre for _, centre, _ in parts]
        self._area = WATER * _radius(middle) * (end - hinge)

    def step(self) -> None:
        """Springs, drag and one period."""
        bullet, body = self._bullet, self._body
        angle = np.array([s[0] for s in bullet.getJointStates(body, self._links)])
        bullet.setJointMotorControlArray(
            body, self._links, bullet.TORQUE_CONTROL, forces=-self._spring * angle
        )
        if self._water:
            self._drag(np.cumsum(angle))
        bullet.stepSimulation()

    def _drag(self, turn: FloatArray) -> None:
        bullet, body = self._bullet, self._body
        states = bullet.getLinkStates(
            body, self._links, computeLinkVelocity=1, computeForwardKinematics=1
        )
        cosine, sine = np.cos(turn), np.sin(turn)
        spin = np.array([s[7][2] for s in states]) * self._arm
        vx = np.array([s[6][0] for s in states]) - spin * sine
        vy = np.array([s[6][1] for s in states]) + spin * cosine
        size = -self._area * np.hypot(vx, vy)
        along = vx * cosine + vy * sine
        tangent = (0.5 * np.pi * DRAG[1] - DRAG[0]) * along
        fx = size * (DRAG[0] * vx + tangent * cosine)
        fy = size * (DRAG[0] * vy + tangent * sine)
        for i in self._links:
            x, y, _ = states[i][0]
            place = (x + self._arm[i] * cosine[i], y + self._arm[i] * sine[i], 0.0)
            bullet.applyExternalForce(
                body, i, (fx[i], fy[i], 0.0), place, bullet.WORLD_FRAME
            )

    def tip(self) -> tuple[float, float]:
        """Where it is [m]."""
        bullet, body = self._bullet, self._body
        last = bullet.getLinkState(body, self._links[-1], computeForwardKinematics=1)
        turn = sum(s[0] for s in bullet.getJointStates(body, self._links))
        x, y, _ = last[4]
        return x + self._end * np.cos(turn), y + self._end * np.sin(turn)


def _bullet(case: str) -> list[Run]:
    """5, 10 and 20 links."""
    import pybullet

    def run(count: int, period: float) -> tuple[float, float]:
        client = pybullet.connect(pybullet.DIRECT)
        try:
            chain = _Chain(count, period, water=case == "UW")
            return _timed(case, chain.step, chain.tip, period)
        finally:
            pybullet.disconnect(client)

    return [
        _median(
            "PyBullet", f"{count} links, {1e3 * period:g} ms", planar=True,
            each=partial(run, count, period),
        )
        for count, period in ((5, 10e-3), (10, 2e-3), (20, 2.5e-4))
    ]  # fmt: skip


PEERS: dict[str, tuple[str, Callable[[str], list[Run]]]] = {
    "PyElastica": ("elastica", _elastica),
    "SoRoMoX": ("soromox", _soromox),
    "PyBullet": ("pybullet", _bullet),
}
"""Name, module and runs of each."""
