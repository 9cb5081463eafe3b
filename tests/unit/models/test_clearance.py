"""Distance of limbs to obstacles: known cases, brute force, gradients.

Tolerances: 1e-12 m where both sides are closed forms; 1e-8 for central differences
(step 1e-6) away from edges; the brute force is bounded by its own sample spacing.
"""

import numpy as np
import pytest

from models.clearance import (
    allocate_clearance_data,
    clearance_cost,
    limb_clearance,
)
from models.limb import build_limb_model, limb_shape
from models.obstacle import build_obstacle_model, obstacle_distance

_EXACT = 1e-12
_STEP = 1e-6
_LIMB = build_limb_model(
    [0.2, 0.18, 0.16],
    [[0.03, 0.026], [0.024, 0.02], [0.02, 0.012]],
    1.6,
    [-0.02, 0.05],
    gap=[0.01, 0.03, 0.0, 0.05],
)
_DATA = allocate_clearance_data(_LIMB)


def _turned(generator):
    """Pose at a random place with random axes."""
    q, r = np.linalg.qr(generator.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    q[:, 0] *= np.linalg.det(q)
    pose = np.eye(4)
    pose[:3, :3] = q
    pose[:3, 3] = generator.uniform([-0.4, -0.4, 0.0], [0.4, 0.4, 0.7])
    return pose


def _obstacles(generator):
    return build_obstacle_model(
        [
            ("plane", _turned(generator), []),
            ("sphere", _turned(generator), generator.uniform(0.02, 0.1, 1)),
            ("cylinder", _turned(generator), generator.uniform(0.02, 0.1, 2)),
            ("box", _turned(generator), generator.uniform(0.02, 0.1, 3)),
        ]
    )


def _only(obstacles, k):
    return type(obstacles)(*(item[k : k + 1] for item in obstacles))


def _coordinates(generator):
    return generator.uniform([-1.1, -1.1, -0.02], [1.1, 1.1, 0.05], size=(3, 3))


def _clearance(obstacles, coordinates, limb=_LIMB, data=_DATA):
    gradient = np.full(coordinates.shape, np.nan)
    return limb_clearance(limb, obstacles, coordinates, data, gradient), gradient


def _skin_distance(obstacles, coordinates, count=4001):
    """Brute force over all obstacles with dense points along the limb."""
    frames, poses = np.empty((4, 4, 4)), np.empty((count, 4, 4))
    radii = np.empty(count)
    limb_shape(_LIMB, coordinates, np.linspace(0.0, 1.0, count), frames, poses, radii)
    least = np.inf
    for k in range(obstacles.kind.size):
        for pose, radius in zip(poses, radii, strict=True):
            distance = obstacle_distance(obstacles, k, *pose[:3, 3])[0] - radius
            least = min(least, distance)
    return least


def test_distances_of_points_that_are_known_by_hand():
    obstacles = build_obstacle_model(
        [
            ("plane", [0.0, 0.0, -0.1], []),
            ("sphere", [0.0, 0.0, 0.5], [0.2]),
            ("cylinder", [0.3, 0.0, 0.0], [0.1, 0.4]),
            ("box", [-0.5, 0.0, 0.0], [0.1, 0.2, 0.3]),
        ]
    )

    def at(k, *point):
        return obstacle_distance(obstacles, k, *point)

    assert at(0, 3.0, 2.0, 0.4) == pytest.approx((0.5, 0.0, 0.0, 1.0), abs=_EXACT)
    assert at(0, 0.0, 0.0, -0.3)[0] == pytest.approx(-0.2, abs=_EXACT)
    assert at(1, 0.3, 0.0, 0.9) == pytest.approx((0.3, 0.6, 0.0, 0.8), abs=_EXACT)
    assert at(1, 0.0, 0.0, 0.5)[0] == pytest.approx(-0.2, abs=_EXACT)
    assert at(2, 0.3, 0.5, 0.1) == pytest.approx((0.4, 0.0, 1.0, 0.0), abs=_EXACT)
    assert at(2, 0.7, 0.0, 0.8) == pytest.approx((0.5, 0.6, 0.0, 0.8), abs=_EXACT)
    assert at(2, 0.3, 0.0, -0.5) == pytest.approx((0.1, 0.0, 0.0, -1.0), abs=_EXACT)
    assert at(2, 0.3, 0.02, 0.0)[0] == pytest.approx(-0.08, abs=_EXACT)
    assert at(3, -0.1, 0.0, 0.0) == pytest.approx((0.3, 1.0, 0.0, 0.0), abs=_EXACT)
    assert at(3, -0.8, 0.5, 0.3)[0] == pytest.approx(np.hypot(0.2, 0.3), abs=_EXACT)
    assert at(3, -0.5, 0.0, -0.25) == pytest.approx((-0.05, 0, 0, -1.0), abs=0.06)
    assert at(3, -0.45, 0.0, 0.0) == pytest.approx((-0.05, 1.0, 0, 0), abs=_EXACT)


def test_the_gradient_of_a_points_distance_is_a_unit_vector_along_it():
    generator = np.random.default_rng(1)
    for _ in range(200):
        obstacles = _obstacles(generator)
        point = generator.uniform([-0.5, -0.5, 0.0], [0.5, 0.5, 0.8])
        for k in range(4):
            distance, *normal = obstacle_distance(obstacles, k, *point)
            assert np.linalg.norm(normal) == pytest.approx(1.0, abs=_EXACT)
            if distance > 0.0:
                moved = point - distance * np.array(normal)
                assert abs(obstacle_distance(obstacles, k, *moved)[0]) < _EXACT


def test_a_straight_limb_beside_a_sphere_and_over_a_plane():
    limb = build_limb_model([0.3, 0.3], 0.02, 1.6, [0.0, 0.0])
    data = allocate_clearance_data(limb)
    straight = np.zeros((2, 3))
    sphere = build_obstacle_model([("sphere", [0.1, 0.0, 0.437], [0.03])])
    distance, gradient = _clearance(sphere, straight, limb, data)
    assert distance == pytest.approx(0.05, abs=_EXACT)
    # bending away from it along -x: half a bend's lever for the first segment
    assert gradient[0, 0] == pytest.approx(-(0.15 + 0.137), abs=1e-9)
    assert gradient[0, 1] == gradient[1, 1] == 0.0
    down = np.diag([1.0, -1.0, -1.0, 1.0])
    down[2, 3] = 0.7
    plane = build_obstacle_model([("plane", down, [])])
    distance, gradient = _clearance(plane, straight, limb, data)
    assert distance == pytest.approx(0.08, abs=_EXACT)
    assert gradient[:, 2] == pytest.approx([-1.0, -1.0], abs=_EXACT)


def test_no_obstacle_is_infinitely_far():
    distance, gradient = _clearance(build_obstacle_model([]), np.zeros((3, 3)))
    assert distance == np.inf
    assert not np.any(gradient)


def test_the_least_distance_is_that_of_dense_points():
    generator = np.random.default_rng(2)
    for _ in range(25):
        obstacles, coordinates = _obstacles(generator), _coordinates(generator)
        for k in range(4):
            one = _only(obstacles, k)
            found, _ = _clearance(one, coordinates)
            dense = _skin_distance(one, coordinates)
            # never more than the dense points' least, and below it by no more than
            # half their spacing, 0.1 mm
            assert found <= dense + _EXACT
            assert found > dense - 1e-4


def test_the_gradient_is_the_derivative():
    generator = np.random.default_rng(3)
    tested = 0
    for _ in range(60):
        obstacles, coordinates = _obstacles(generator), _coordinates(generator)
        for k in range(4):
            one = _only(obstacles, k)
            distance, gradient = _clearance(one, coordinates)
            near = _DATA.near.copy()
            difference = np.zeros((3, 3))
            smooth = distance > 1e-3
            for index in np.ndindex(3, 3):
                ends = []
                for sign in (1.0, -1.0):
                    moved = coordinates.copy()
                    moved[index] += sign * _STEP
                    ends.append(_clearance(one, moved)[0])
                    # the nearest point has not jumped
                    smooth &= np.linalg.norm(_DATA.near[:3] - near[:3]) < 1e-4
                difference[index] = (ends[0] - ends[1]) / (2.0 * _STEP)
            if smooth:
                tested += 1
                assert np.allclose(gradient, difference, rtol=0.0, atol=1e-7)
    assert tested > 150


def test_the_cost_and_its_gradient():
    generator = np.random.default_rng(4)
    margin, tested = 0.05, 0
    for _ in range(60):
        obstacles, coordinates = _obstacles(generator), _coordinates(generator)
        gradient = np.empty((3, 3))
        cost, least = clearance_cost(
            _LIMB, obstacles, coordinates, margin, _DATA, gradient
        )
        assert least == _clearance(obstacles, coordinates)[0]
        assert (cost > 0.0) == (least < margin)
        if not 0.0 < least < margin:
            continue
        difference = np.zeros((3, 3))
        waste = np.empty((3, 3))
        for index in np.ndindex(3, 3):
            ends = []
            for sign in (1.0, -1.0):
                moved = coordinates.copy()
                moved[index] += sign * _STEP
                ends.append(
                    clearance_cost(_LIMB, obstacles, moved, margin, _DATA, waste)[0]
                )
            difference[index] = (ends[0] - ends[1]) / (2.0 * _STEP)
        tested += np.allclose(gradient, difference, rtol=0.0, atol=1e-8)
        assert np.allclose(gradient, difference, rtol=0.0, atol=1e-5)
    assert tested >= 5


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (("cone", [0, 0, 0], [1.0]), "one of plane, sphere, cylinder, box"),
        (("box", [0, 0, 0], [0.1, 0.1]), "3 positive sizes"),
        (("sphere", [0, 0, 0], [-0.1]), "1 positive sizes"),
    ],
)
def test_wrong_obstacles_are_refused(item, words):
    with pytest.raises(ValueError, match=words):
        build_obstacle_model([item])
