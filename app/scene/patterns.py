"""Small repeating textures made at start: caustics, grain of sand, dither noise."""

import numpy as np
from numpy.typing import NDArray

from models.numerics import FloatArray

__all__ = ["PATTERN_SIZE", "patterns"]

PATTERN_SIZE = 256


def patterns() -> NDArray[np.uint8]:
    """Make the three patterns.

    Returns:
        (256, 256, 4): caustics, sand, white noise and full alpha; the first two repeat
        without a seam.
    """
    generator = np.random.default_rng(7)
    size = PATTERN_SIZE
    picture = np.full((size, size, 4), 255, dtype=np.uint8)
    picture[..., 0] = _bytes(_caustics(generator))
    grain = 0.55 * _noise(generator, 2.2) + 0.45 * _noise(generator, 1.2)
    picture[..., 1] = _bytes(0.5 + 0.16 * grain)
    picture[..., 2] = generator.integers(0, 256, (size, size))
    return picture


def _bytes(values: FloatArray) -> NDArray[np.uint8]:
    return np.asarray(np.clip(values, 0.0, 1.0) * 255.0 + 0.5, dtype=np.uint8)


def _noise(generator: np.random.Generator, roughness: float) -> FloatArray:
    """Seamless noise of unit variance, spectrum falling as frequency^-roughness."""
    size = PATTERN_SIZE
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
    size, fine = PATTERN_SIZE, 4 * PATTERN_SIZE
    axis = np.arange(fine) / fine
    x, y = np.meshgrid(axis, axis, indexing="ij")
    shift_x, shift_y = np.zeros_like(x), np.zeros_like(y)
    for _ in range(14):
        waves = generator.integers(-6, 7, 2)
        length = float(np.hypot(*waves)) or 1.0
        phase = generator.uniform(0.0, 2.0 * np.pi)
        slope = np.cos(2.0 * np.pi * (waves[0] * x + waves[1] * y) + phase)
        slope *= 0.0125 / length**0.6
        shift_x += slope * waves[0] / length
        shift_y += slope * waves[1] / length
    column = ((x + shift_x) * size).astype(np.int64) % size
    row = ((y + shift_y) * size).astype(np.int64) % size
    count = np.bincount((column * size + row).ravel(), minlength=size * size)
    light = count.reshape(size, size) / (fine / size) ** 2
    for axis_number in (0, 1):  # the sun is not a point
        light = (
            0.25 * np.roll(light, 1, axis_number)
            + 0.5 * light
            + 0.25 * np.roll(light, -1, axis_number)
        )
    return np.asarray(0.30 * np.maximum(light - 0.45, 0.0) ** 0.8)
