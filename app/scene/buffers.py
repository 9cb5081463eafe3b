"""Vertex lists on the graphics side, bound to programs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.scene.meshes import Mesh
from app.scene.skin import LimbMesh

__all__ = ["Arrays"]

_SOLID = (("3f", "position"), ("3f", "normal"), ("4f", "color"))
_LIMB = (("1f", "row"), ("3f", "position"), ("4f", "normal"), ("4f", "color"))
_PLACE = (("2f", "place"),)


class Arrays:
    """Makes vertex arrays in one context, for the programs of that context."""

    def __init__(self, context: Any, programs: dict[str, Any]) -> None:
        """Take the context and its programs by name."""
        self._context = context
        self._programs = programs

    def solid(self, name: str, mesh: Mesh) -> Any:
        """Bind a mesh that stands still to the program `name`."""
        vertices = np.concatenate([mesh.position, mesh.normal, mesh.color], axis=1)
        return self._bind(name, _SOLID, vertices, mesh.triangles)

    def limb(self, name: str, limb: LimbMesh) -> Any:
        """Bind a mesh that rides on frames to the program `name`."""
        mesh = limb.mesh
        columns = [limb.row[:, None], mesh.position, mesh.normal]
        columns += [limb.band[:, None], mesh.color]
        vertices = np.concatenate(columns, axis=1)
        return self._bind(name, _LIMB, vertices, mesh.triangles)

    def screen(self, name: str, columns: int, rows: int) -> Any:
        """Cover the picture with a lattice of columns x rows cells."""
        x, y = np.meshgrid(
            np.linspace(-1.0, 1.0, columns + 1), np.linspace(-1.0, 1.0, rows + 1)
        )
        place = np.stack([x, y], axis=-1).reshape(-1, 2)
        lattice = np.arange(place.shape[0]).reshape(rows + 1, columns + 1)
        a, b = lattice[:-1, :-1].ravel(), lattice[:-1, 1:].ravel()
        c, d = lattice[1:, 1:].ravel(), lattice[1:, :-1].ravel()
        halves = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
        return self._bind(name, _PLACE, place, halves)

    def lines(self, name: str, buffer: Any) -> Any:
        """Bind a buffer of `LINE_FLOATS` numbers a line, six corners each."""
        corner = np.array([[0, -1], [1, -1], [1, 1], [0, -1], [1, 1], [0, 1]], "f4")
        layout = "3f 3f 4f 4f 1f/i"
        names = ("start", "stop", "start_color", "stop_color", "thickness")
        return self._context.vertex_array(
            self._programs[name],
            [
                (self._context.buffer(corner.tobytes()), "2f", "corner"),
                (buffer, layout, *names),
            ],
        )

    def _bind(
        self,
        name: str,
        layout: Sequence[tuple[str, str]],
        vertices: NDArray[Any],
        triangles: NDArray[Any],
    ) -> Any:
        """Bind a vertex list to a program; what the program does not use is skipped."""
        program = self._programs[name]
        formats, names = [], []
        for form, attribute in layout:
            if attribute in program:
                formats.append(form)
                names.append(attribute)
            else:
                formats.append(f"{4 * int(form[0])}x")
        buffer = self._context.buffer(np.asarray(vertices, dtype="f4").tobytes())
        index = self._context.buffer(np.ascontiguousarray(triangles, "i4").tobytes())
        return self._context.vertex_array(
            program, [(buffer, " ".join(formats), *names)], index_buffer=index
        )
