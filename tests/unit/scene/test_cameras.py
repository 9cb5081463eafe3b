"""Cameras. Tolerance 1e-9: a few dozen double operations on numbers near 1."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.scene.cameras import NEAR_M, VIEWS, LimbView, OrbitCamera, View

TOLERANCE = 1e-9
drags = st.floats(-2000.0, 2000.0)


def moved(drag: tuple[float, float], notches: float) -> OrbitCamera:
    camera = OrbitCamera(1280, 720)
    camera.orbit(*drag)
    camera.zoom(notches)
    return camera


@given(
    st.tuples(drags, drags),
    st.floats(-10, 10),
    st.floats(0, 1280),
    st.floats(0, 720),
    st.floats(0.1, 20),
)
def test_ray_and_project_undo_each_other(
    drag: tuple[float, float], notches: float, x: float, y: float, away: float
) -> None:
    camera = moved(drag, notches)
    origin, direction = camera.ray(x, y)
    assert np.linalg.norm(direction) == pytest.approx(1.0, abs=TOLERANCE)
    px, py, depth = camera.project(origin + away * direction)
    assert (px, py) == pytest.approx((x, y), abs=1e-6)  # pixels
    assert depth == pytest.approx(away * direction @ camera.forward, abs=TOLERANCE)


@given(st.tuples(drags, drags), st.floats(-10, 10))
def test_matrices_agree_with_project(drag: tuple[float, float], notches: float) -> None:
    camera = moved(drag, notches)
    point = camera.focus + np.array([0.03, -0.02, 0.05])
    clip = camera.projection_matrix() @ camera.view_matrix() @ [*point, 1.0]
    x, y, depth = camera.project(point)
    assert clip[3] == pytest.approx(depth, abs=TOLERANCE)
    assert 640.0 * (1.0 + clip[0] / clip[3]) == pytest.approx(x, abs=1e-6)
    assert 360.0 * (1.0 - clip[1] / clip[3]) == pytest.approx(y, abs=1e-6)


@given(st.tuples(drags, drags), st.floats(-50, 50))
def test_axes_stay_right_handed_and_level(
    drag: tuple[float, float], notches: float
) -> None:
    camera = moved(drag, notches)
    np.testing.assert_allclose(camera.axes @ camera.axes.T, np.eye(3), atol=TOLERANCE)
    np.testing.assert_allclose(
        np.cross(camera.axes[0], camera.axes[1]), -camera.axes[2], atol=TOLERANCE
    )
    assert abs(camera.axes[0, 2]) < TOLERANCE  # the horizon never tilts
    assert camera.axes[1, 2] > 0.0  # and is never upside down


@given(st.floats(-200, 200), st.floats(-200, 200))
def test_pan_carries_the_focus_with_the_pointer(x: float, y: float) -> None:
    camera = OrbitCamera(1280, 720)
    before = camera.focus.copy()
    camera.pan(x, y)
    assert camera.project(before)[:2] == pytest.approx((640 + x, 360 + y), abs=1e-6)


def test_point_at_keeps_the_depth() -> None:
    camera = OrbitCamera(800, 600)
    through = np.array([0.4, 0.1, -0.2])
    point = camera.point_at(123.0, 456.0, through)
    assert camera.project(point) == pytest.approx(
        (123.0, 456.0, camera.project(through)[2]), abs=1e-6
    )


def test_pixel_size_is_what_project_shows() -> None:
    camera = OrbitCamera(800, 600)
    point = camera.focus
    beside = point + camera.pixel_size(point) * camera.axes[0]
    assert camera.project(beside)[0] - camera.project(point)[0] == pytest.approx(1.0)


def test_reset_undoes_everything() -> None:
    camera, fresh = OrbitCamera(800, 600), OrbitCamera(800, 600)
    camera.orbit(100, 50)
    camera.pan(30, 40)
    camera.zoom(3)
    camera.reset()
    np.testing.assert_array_equal(camera.view_matrix(), fresh.view_matrix())


def test_views_look_where_their_names_say() -> None:
    camera = OrbitCamera(800, 600)
    looks = {"front": (-1, 0, 0), "side": (0, 1, 0), "top": (0, 0, -1)}
    for name, direction in looks.items():
        camera.view(name)
        assert camera.forward @ np.array(direction) > math.cos(math.radians(6.0))
    camera.view("chase")
    assert camera.forward[0] > 0.5  # along with the robot: ahead on the screen is away
    assert set(VIEWS) == {"chase", "front", "side", "top"}


def test_behind_the_viewer_is_told() -> None:
    camera = OrbitCamera(800, 600)
    assert camera.project(camera.position - camera.forward)[2] < NEAR_M


@given(
    st.tuples(drags, drags),
    st.floats(-10, 10),
    st.tuples(*[st.floats(-4, 4)] * 3),
    st.floats(0.01, 1.0),
)
def test_may_see_never_misses_a_sphere(
    drag: tuple[float, float],
    notches: float,
    middle: tuple[float, float, float],
    radius: float,
) -> None:
    camera = moved(drag, notches)
    centre = np.array(middle)
    for step in (-1.0, 0.0, 1.0):
        for axis in camera.axes:
            x, y, depth = camera.project(centre + step * radius * axis)
            if depth > NEAR_M and 0 <= x <= 1280 and 0 <= y <= 720:
                assert camera.may_see(centre, radius)
    behind = camera.position - 10.0 * camera.forward
    assert not camera.may_see(behind, 1.0)


def test_limb_view_looks_along_the_tip_with_x_up() -> None:
    pose = np.eye(4)
    pose[:3, :3] = [[0, 0, 1], [0, -1, 0], [1, 0, 0]]  # z ahead, x up in the hull
    pose[:3, 3] = (0.6, 0.1, 0.2)
    view = LimbView(advance=0.02).place(pose, 320, 240)
    assert isinstance(view, View)
    np.testing.assert_allclose(view.position, [0.62, 0.1, 0.2], atol=TOLERANCE)
    assert view.project(np.array([2.0, 0.1, 0.2]))[:2] == pytest.approx((160, 120))
    assert view.project(np.array([2.0, 0.1, 0.4]))[1] < 120  # higher is up
    assert view.project(np.array([2.0, 0.3, 0.2]))[0] < 160  # port is left
