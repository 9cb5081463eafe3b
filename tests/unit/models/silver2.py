"""Legs of SILVER2 for the tests: paper facts P003-034 and P003-036.

The lengths and mounts are those of a public simulation model, not of Liu 2020. The
joint ranges are assumed, and wide, so that all kinds of postures come up.
"""

import numpy as np

from models.leg import build_leg_model

LINK = np.array([0.1068, 0.0, 0.2232, 0.276])
JOINT_RANGE = np.radians([[-90.0, 90.0], [-90.0, 90.0], [0.0, 135.0]])
SPLAY = np.radians([-45.0, 0.0, 45.0, 45.0, 0.0, -45.0])
STANCE_WIDTH = 0.966162


def mounts():
    poses = []
    for side in (1.0, -1.0):
        for y in (-0.1176, 0.018, 0.1524):
            pose = np.eye(4)
            pose[:2, :2] *= side  # yaw 0 or pi
            pose[:3, 3] = [side * 0.1944, y, -0.0336]
            poses.append(pose)
    return np.array(poses)


def silver2_legs(offset=0.0, joint_range=JOINT_RANGE):
    link = [LINK[0], offset, LINK[2], LINK[3]]
    return build_leg_model(link, joint_range, mounts())
