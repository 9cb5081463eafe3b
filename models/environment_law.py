"""Elastic law of a rendered surface: a power of the depth, then a straight line.

    e(p) = K p^n   up to the depth where its slope reaches a bound, then straight on

The bound is what a sampled wall may have to stay passive. The line is ours: without it
an exponent above 1 would be passive near the surface only.
"""

from models.numerics import kernel

__all__ = ["elastic_depth", "elastic_energy", "elastic_force"]


@kernel
def elastic_force(
    stiffness: float, exponent: float, steepest: float, depth: float
) -> float:
    """Elastic force of a law whose slope is kept below a bound.

    Args:
        stiffness: K [N/m^n].
        exponent: n, 1 or above.
        steepest: bound of the slope [N/m]; a penalty to nobody where it is infinite.
        depth: p [m], 0 or above.

    Returns:
        Force [N].
    """
    if exponent == 1.0:
        return min(stiffness, steepest) * depth
    bend = _bend(stiffness, exponent, steepest)
    if depth <= bend:
        return float(stiffness * depth**exponent)
    return float(stiffness * bend**exponent + steepest * (depth - bend))


@kernel
def elastic_depth(
    stiffness: float, exponent: float, steepest: float, force: float
) -> float:
    """Undo `elastic_force`.

    Args:
        stiffness: K [N/m^n], above 0.
        exponent: n, 1 or above.
        steepest: bound of the slope [N/m].
        force: [N], 0 or above.

    Returns:
        Depth [m].
    """
    if exponent == 1.0:
        return force / min(stiffness, steepest)
    bend = _bend(stiffness, exponent, steepest)
    at_bend = stiffness * bend**exponent
    if force <= at_bend:
        return float((force / stiffness) ** (1.0 / exponent))
    return float(bend + (force - at_bend) / steepest)


@kernel
def elastic_energy(
    stiffness: float, exponent: float, steepest: float, depth: float
) -> float:
    """Energy stored by `elastic_force` [J]; the arguments are its own."""
    if exponent == 1.0:
        return 0.5 * min(stiffness, steepest) * depth * depth
    bend = _bend(stiffness, exponent, steepest)
    power = min(depth, bend)
    beyond = depth - power
    return float(
        stiffness * power ** (exponent + 1.0) / (exponent + 1.0)
        + beyond * (stiffness * bend**exponent + 0.5 * steepest * beyond)
    )


@kernel
def _bend(stiffness: float, exponent: float, steepest: float) -> float:
    """Depth [m] from which on the law of an exponent above 1 is a straight line."""
    return float((steepest / (stiffness * exponent)) ** (1.0 / (exponent - 1.0)))
