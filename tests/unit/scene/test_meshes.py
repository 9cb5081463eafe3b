"""Meshes: closed the right way round, and of the size they claim.

Tolerance 1 mm where a round thing is made of flat facets, 1e-9 elsewhere.
"""

import math

import numpy as np
import pytest

from app.config.robot import RobotParameters
from app.scene.meshes import (
    Mesh,
    ball,
    box,
    lathe,
    linear,
    merge,
    move,
    pose_along,
    sweep,
)
from app.scene.patterns import coarser, sand_pattern
from app.scene.site import seabed_height, seabed_mesh, site_mesh, site_obstacles
from app.scene.skin import section_meshes, shell_meshes, skin_meshes
from app.scene.vehicle import hull_mesh
from models.robot import RobotModel

WHITE = (1.0, 1.0, 1.0, 0.0)


def volume(mesh: Mesh) -> float:
    """Signed volume; positive where triangles face outwards."""
    a, b, c = (mesh.position[mesh.triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def facing(mesh: Mesh) -> np.ndarray:
    """(m,) cosine between each triangle and its corners' normals."""
    a, b, c = (mesh.position[mesh.triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return np.einsum("ij,ij->i", normal, mesh.normal[mesh.triangles].mean(axis=1))


def test_solids_enclose_their_volume() -> None:
    assert volume(box((0.1, 0.2, 0.3), WHITE)) == pytest.approx(0.006, abs=1e-9)
    assert volume(ball(0.1, WHITE, 64, 32)) == pytest.approx(4.19e-3, rel=0.01)
    rod = lathe([(0.0, 0.0), (0.0, 0.1), (0.0, 0.1), (0.5, 0.1), (0.5, 0.0)], WHITE, 96)
    assert volume(rod) == pytest.approx(math.pi * 0.01 * 0.5, rel=0.01)
    angle = np.linspace(0.0, 2.0 * math.pi, 96, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    torus = sweep(ring, 0.1, WHITE, 48, closed=True)
    assert volume(torus) == pytest.approx(2.0 * math.pi**2 * 0.01, rel=0.01)


def test_move_and_merge_keep_the_volume() -> None:
    block = box((0.1, 0.2, 0.3), WHITE)
    away = move(block, pose_along((1.0, 2.0, 3.0), (1.0, -1.0, 0.5)))
    assert volume(merge([block, away])) == pytest.approx(0.012, abs=1e-9)


def test_a_pose_along_is_a_rotation() -> None:
    for direction in ((1, 0, 0), (0, 0, -1), (0.3, -2.0, 1.0)):
        rotation = pose_along((0, 0, 0), direction)[:3, :3]
        np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-9)
        assert np.linalg.det(rotation) == pytest.approx(1.0)
        np.testing.assert_allclose(
            rotation[:, 2], np.asarray(direction) / np.linalg.norm(direction)
        )


def test_colors_are_squared() -> None:
    assert linear("#ff8000", 0.3, 2.0) == pytest.approx((2.0, 0.50394, 0.0, 0.3), 1e-3)


def test_hull_has_the_printed_size(robot: RobotParameters) -> None:
    hull = hull_mesh(robot)
    low, high = hull.position.min(axis=0), hull.position.max(axis=0)
    assert low[0] == pytest.approx(-1.2, abs=0.025)  # the connector stands out astern
    assert 0.0 < high[0] < 0.025  # splayed flanges on the bow plate
    head = hull.position[(hull.position[:, 0] > -0.14) & (hull.position[:, 0] < -0.11)]
    assert head[:, 2].max() == pytest.approx(0.125, abs=1e-3)
    assert -low[1] == pytest.approx(high[1], abs=1e-6)  # port and starboard alike
    assert high[1] < 0.3


def test_surfaces_face_the_way_of_their_normals(robot: RobotParameters) -> None:
    near, far = seabed_mesh()
    for mesh in (hull_mesh(robot), site_mesh(), near, far):
        np.testing.assert_allclose(np.linalg.norm(mesh.normal, axis=1), 1.0, atol=1e-6)
        # a smooth fin's edge may lie across its normals; nothing lies inside out
        assert np.mean(facing(mesh) > 0.0) > 0.995
    for sand in (near, far):
        assert (sand.normal[:, 2] > 0.8).all()
        assert (facing(sand) > 0.9).all()


def test_sand_has_no_gap_between_its_parts() -> None:
    near, far = seabed_mesh()
    x, y, z = near.position.T
    np.testing.assert_allclose(z, seabed_height(x, y), atol=1e-9)
    inner = far.position[:64]
    inside = (abs(inner[:, 0] - 0.2) <= 2.4) & (abs(inner[:, 1]) <= 2.4)
    assert inside.all()  # the far part begins under the near one
    assert (inner[:, 2] < seabed_height(inner[:, 0], inner[:, 1])).all()


def test_drawn_obstacles_fill_their_solids() -> None:
    points = site_mesh().position
    for obstacle in site_obstacles():
        if obstacle.kind == "sphere":
            away = np.linalg.norm(points - obstacle.pose[:3, 3], axis=1)
            assert away.min() < 1.35 * obstacle.size[0]
        elif obstacle.kind == "cylinder":
            inverse = np.linalg.inv(obstacle.pose)
            local = points @ inverse[:3, :3].T + inverse[:3, 3]
            radius = np.hypot(local[:, 0], local[:, 1])
            within = np.abs(local[:, 2]) <= 0.5 * obstacle.size[1] + 0.02
            assert (within & (np.abs(radius - obstacle.size[0]) < 0.02)).any()


def test_skins_ride_on_their_own_rows(
    robot: RobotParameters, model: RobotModel
) -> None:
    for meshes, rows in (
        (skin_meshes(robot, model), 11),
        (shell_meshes(robot, model), 11),
        (section_meshes(robot, model), 10),
    ):
        assert len(meshes) == 4
        for limb, mesh in enumerate(meshes):
            start, stop = model.limb_segment_start[limb : limb + 2]
            assert mesh.row.min() == start * rows
            assert mesh.row.max() == stop * rows - 1
            assert mesh.row.shape[0] == mesh.mesh.position.shape[0]
            assert mesh.mesh.triangles.max() < mesh.row.shape[0]


def test_skin_tapers_as_the_model_does(
    robot: RobotParameters, model: RobotModel
) -> None:
    mesh = skin_meshes(robot, model)[0]
    radius = np.hypot(*mesh.mesh.position[:, :2].T)
    tube = mesh.band > 0.0
    for row, expected in (
        (0, 0.030),
        (10, 0.020),
        (11, 0.020),
        (16, 0.015),
        (21, 0.010),
    ):
        at = tube & (np.abs(mesh.row - row) < 1e-9)
        np.testing.assert_allclose(radius[at], expected, atol=1e-9)


def test_sand_repeats_without_a_seam() -> None:
    picture = sand_pattern()[..., :2].astype(float)
    inside = np.abs(np.diff(picture, axis=0)).mean(axis=(0, 1))
    across = np.abs(picture[0] - picture[-1]).mean(axis=0)
    assert (across < 1.3 * inside).all()
    inside = np.abs(np.diff(picture, axis=1)).mean(axis=(0, 1))
    across = np.abs(picture[:, 0] - picture[:, -1]).mean(axis=0)
    assert (across < 1.3 * inside).all()


def test_coarser_averages() -> None:
    picture = np.zeros((4, 4, 4), dtype=np.uint8)
    picture[0, 0] = 100
    assert coarser(picture, 2)[0, 0, 0] == 25
    assert coarser(picture, 2)[1, 1, 0] == 0
