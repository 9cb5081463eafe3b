"""How much of what the robot touches reaches the hand.

    ε_F   = RMS(F_m - S_f F_e)/RMS(S_f F_e)
    ε_F,T = the same with F_e shifted by T_b, the delay back: what is late is no error
    K ratio = F_m/(S (x_m - x_w))/K_e, in the last second of a hold
    ε_Z   = mean |log10 |Z_t(f)|/|Z_e(f)||, Z = F/v where the hand was probed (0.1-5 Hz)
    ε_loc = RMS(F_m - F_w)/RMS(F_w), F_w what the *true* surface would answer the hand

F_m is shown to the hand, F_e true at the robot, S_f and S are the scales of force and
motion. Signals are sampled evenly; (n,) is one axis or the size along the normal.
"""

import numpy as np

from models.numerics import FloatArray

__all__ = [
    "force_error",
    "impedance_error",
    "local_error",
    "shifted",
    "shown_impedance",
    "stiffness_ratio",
]


def _rms(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0


def shifted(values: FloatArray, samples: int) -> FloatArray:
    """Delay a signal (n, ...) by whole samples; before it began it was its first."""
    if samples <= 0:
        return values
    first = np.repeat(values[:1], min(samples, len(values)), axis=0)
    late: FloatArray = np.concatenate([first, values[:-samples]])
    return late


def force_error(
    shown: FloatArray, true: FloatArray, scale: float = 1.0, late: int = 0
) -> float | None:
    """Return ε_F, or ε_F,T where `late` is given.

    Args:
        shown: (n, ...) F_m [N].
        true: (n, ...) F_e in the same direction [N].
        scale: S_f.
        late: T_b in samples.

    Returns:
        The error; None where nothing was touched.
    """
    there = scale * shifted(true, late)
    size = _rms(there)
    return _rms(shown - there) / size if size > 0.0 else None


def stiffness_ratio(
    shown: FloatArray, depth: FloatArray, true_stiffness: float, scale: float = 1.0
) -> float | None:
    """Return the displayed stiffness over the true one.

    Args:
        shown: (n,) F_m over the last second of a hold, into the surface [N].
        depth: (n,) x_m - x_w of the hand in the true surface, then [m].
        true_stiffness: K_e [N/m].
        scale: S, of motion.

    Returns:
        The ratio; None where the hand is not in the surface.
    """
    way = scale * float(np.mean(depth)) if depth.size else 0.0
    return float(np.mean(shown)) / way / true_stiffness if way > 0.0 else None


def shown_impedance(
    force: FloatArray, velocity: FloatArray, frequencies: FloatArray, period_s: float
) -> FloatArray:
    """Return |Z_t| (m,) [N s/m] of a probe of whole periods of every frequency.

    Args:
        force: (n,) shown [N].
        velocity: (n,) of the hand [m/s].
        frequencies: (m,) of the multisine [Hz].
        period_s: between samples [s].
    """
    bins = np.rint(frequencies * force.size * period_s).astype(np.int64)
    shown: FloatArray = np.abs(np.fft.rfft(force)[bins] / np.fft.rfft(velocity)[bins])
    return shown


def impedance_error(shown: FloatArray, true: FloatArray) -> float:
    """Return ε_Z.

    Args:
        shown: (m,) |Z_t| at the frequencies of a probe [N s/m].
        true: (m,) |Z_e| at them [N s/m].
    """
    return float(np.mean(np.abs(np.log10(shown / true))))


def local_error(shown: FloatArray, depth: FloatArray, stiffness: float) -> float | None:
    """Return ε_loc.

    Args:
        shown: (n,) F_m into the surface [N].
        depth: (n,) of the hand in the true surface, negative outside [m].
        stiffness: true K_e [N/m].
    """
    wanted = stiffness * np.maximum(0.0, depth)
    size = _rms(wanted)
    return _rms(shown - wanted) / size if size > 0.0 else None
