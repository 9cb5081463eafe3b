"""A dragged tip follows the cursor, and never jumps.

Tolerance: a tenth of a pixel; projection and its inverse agree to rounding.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.console.drag import TipDrag, nearest_tip
from app.scene import OrbitCamera
from models.tip import limb_tips
from tests.unit.console.stand import MODEL

PIXEL = 0.1
TIPS = limb_tips(MODEL, MODEL.rest_coordinates)


def _camera(azimuth: float = 0.0, elevation: float = 0.0) -> OrbitCamera:
    camera = OrbitCamera(1280, 720)
    camera.orbit(azimuth, elevation)
    return camera


def _grab(camera: OrbitCamera, limb: int) -> tuple[TipDrag, tuple[float, float]]:
    x, y, _ = camera.project(TIPS[limb])
    cursor = (x + 7.0, y - 5.0)  # a person never hits the tip exactly
    return TipDrag(MODEL, limb, TIPS[limb], cursor), cursor


def test_a_press_moves_nothing() -> None:
    drag, _ = _grab(_camera(), 0)
    np.testing.assert_array_equal(drag.target, TIPS[0])


@settings(deadline=None, max_examples=50)
@given(st.floats(-200, 200), st.floats(-80, 80), st.floats(-12, 12), st.floats(-12, 12))
def test_the_target_follows_the_cursor_in_the_plane_of_the_view(
    azimuth: float, elevation: float, dx: float, dy: float
) -> None:
    camera = _camera(azimuth, elevation)
    drag, cursor = _grab(camera, 1)
    drag.target = TIPS[1] + 0.15 * (MODEL.pose_base_to_hull[1][:3, 3] - TIPS[1])
    before = camera.project(drag.target)
    drag.move(camera, (cursor[0] + dx, cursor[1] + dy), along_view=False, clutch=False)
    after = camera.project(drag.target)
    assert after[0] - before[0] == pytest.approx(dx, abs=PIXEL)
    assert after[1] - before[1] == pytest.approx(dy, abs=PIXEL)
    assert after[2] == pytest.approx(before[2], abs=1e-9)


def test_along_the_view_depth_changes_and_the_direction_does_not() -> None:
    camera = _camera()
    drag, cursor = _grab(camera, 0)
    before = drag.target.copy()
    drag.move(camera, (cursor[0], cursor[1] - 20.0), along_view=True, clutch=False)
    step = drag.target - before
    assert float(step @ camera.forward) > 0.01
    np.testing.assert_allclose(np.cross(step, camera.forward), 0.0, atol=1e-12)


def test_the_clutch_lets_the_cursor_move_alone() -> None:
    camera = _camera()
    drag, cursor = _grab(camera, 0)
    far = (cursor[0] - 300.0, cursor[1])
    drag.move(camera, far, along_view=False, clutch=True)
    np.testing.assert_array_equal(drag.target, TIPS[0])
    drag.move(camera, (far[0] + 3.0, far[1]), along_view=False, clutch=False)
    assert float(np.linalg.norm(drag.target - TIPS[0])) < 0.02


@pytest.mark.parametrize("limb", range(4))
def test_the_target_stays_about_the_limbs_reach(limb: int) -> None:
    camera = _camera()
    drag, _ = _grab(camera, limb)
    for step in range(40):
        drag.move(camera, (60.0 * step, 900.0), along_view=step % 2 == 0, clutch=False)
    base = MODEL.pose_base_to_hull[limb][:3, 3]
    assert float(np.linalg.norm(drag.target - base)) <= 1.05 * 0.6 + 1e-9


def test_the_nearest_tip_in_reach_is_meant() -> None:
    camera = _camera()
    for limb in range(4):
        x, y, _ = camera.project(TIPS[limb])
        assert nearest_tip(camera, TIPS, x + 1.0, y, within=30.0) == limb
    assert nearest_tip(camera, TIPS, 2.0, 2.0, within=30.0) == -1


def test_a_tip_behind_the_camera_cannot_be_grabbed() -> None:
    camera = _camera()
    behind = np.array([camera.position - camera.forward])
    x, y, _ = camera.project(behind[0])
    assert nearest_tip(camera, behind, x, y, within=1e9) == -1
