"""The picture: poses from PyBullet, drawn with OpenGL into a plain array.

Poses of the chains, hull and obstacles come from `world`; `renderer` draws them;
`Scene` is the one door for the console and for scripts.
"""

from app.scene.cameras import LimbView, OrbitCamera
from app.scene.scene import Scene, SceneFrame

__all__ = ["LimbView", "OrbitCamera", "Scene", "SceneFrame"]
