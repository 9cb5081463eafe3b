"""The repeating texture of the sand, made at start."""

import numpy as np
from numpy.typing import NDArray

from models.numerics import FloatArray

__all__ = ["coarser", "sand_pattern"]

_SIZE = 512


def sand_pattern() -> NDArray[np.uint8]:
    """Make grain and sunlight for the sand.

    Returns:
        (512, 512, 4): red is the grain, green the light that waves on the surface
        gather (caustics); both repeat without a seam.
    """
    generator = np.random.default_rng(7)
    size = _SIZE
    picture = np.full((size, size, 4), 255, dtype=np.uint8)
    grain = 0.6 * _noise(generator, 1.9) + 0.4 * _noise(generator, 0.9)
    picture[..., 0] = _bytes(0.5 + 0.13 * grain)
    picture[..., 1] = _bytes(_caustics(generator))
    return picture


def coarser(picture: NDArray[np.uint8], factor: int) -> NDArray[np.uint8]:
    """Average squares of factor x factor points of a (n, n, 4) picture."""
    size = picture.shape[0] // factor
    squares = picture.reshape(size, factor, size, factor, 4)
    return np.asarray(squares.mean(axis=(1, 3)) + 0.5, dtype=np.uint8)


def _bytes(values: FloatArray) -> NDArray[np.uint8]:
    return np.asarray(np.clip(values, 0.0, 1.0) * 255.0 + 0.5, dtype=np.uint8)


def _noise(generator: np.random.Generator, roughness: float) -> FloatArray:
    """Seamless noise of unit variance, spectrum falling as frequency^-roughness."""
    size = _SIZE
    wave = np.hypot(
        np.fft.fftfreq(size)[:, None] * size, np.fft.rfftfreq(size)[None, :] * size
    )
    wave[0, 0] = np.inf
    spectrum = np.fft.rfft2(generator.normal(size=(size, size))) * wave**-roughness
    field = np.fft.irfft2(spectrum, (size, size))
    return np.asarray(field / field.std())


def _caustics(generator: np.random.Generator) -> FloatArray:
    """Brightness of parallel light after a wavy surface has bent it.

    Rays start on a fine grid, are displaced by the slope of a sum of waves, and are
    counted where they land.
    """
    size, fine = _SIZE, 2 * _SIZE
    axis = (np.arange(fine) / fine).astype(np.float32)
    shift_x = np.zeros((fine, fine), dtype=np.float32)
    shift_y = np.zeros_like(shift_x)
    for _ in range(14):
        waves = generator.integers(-6, 7, 2)
        length = float(np.hypot(*waves)) or 1.0
        phase = np.float32(generator.uniform(0.0, 2.0 * np.pi))
        along_x = np.float32(2.0 * np.pi * waves[0]) * axis + phase
        along_y = np.float32(2.0 * np.pi * waves[1]) * axis
        # the cosine of a sum as two products of lines: 100 times fewer cosines
        slope = np.outer(np.cos(along_x), np.cos(along_y))
        slope -= np.outer(np.sin(along_x), np.sin(along_y))
        slope *= np.float32(0.0125 / length**1.6)
        shift_x += slope * np.float32(waves[0])
        shift_y += slope * np.float32(waves[1])
    x, y = axis[:, None], axis[None, :]
    column = np.floor((x + shift_x) * size).astype(np.int64) % size
    row = np.floor((y + shift_y) * size).astype(np.int64) % size
    count = np.bincount((column * size + row).ravel(), minlength=size * size)
    light = count.reshape(size, size) / (fine / size) ** 2
    for axis_number in (0, 1):  # the sun is not a point
        light = (
            0.25 * np.roll(light, 1, axis_number)
            + 0.5 * light
            + 0.25 * np.roll(light, -1, axis_number)
        )
    return np.asarray(0.30 * np.maximum(light - 0.45, 0.0) ** 0.8)
