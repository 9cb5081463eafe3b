"""One step along a rod: the exponential of its strain, and that map's derivatives.

Between two neighbouring points the pose changes by exp(Ω). With ξ1, ξ2 the strains at
the two Gauss nodes of a step of length h (Magnus, fourth order; exact where the strain
is constant):

    Ω = h/2 (ξ1 + ξ2) + √3/12 h² [ξ1, ξ2]

With Ω = (w, ρ), u = |w|² and the entire functions a, b, c of models/arc, a change dΩ
moves the end by the twist (in the frame of the step's start)

    y_w = b dw + a w×dw + c w (w·dw),   y_v = the part of y_w in ε at w + ε ρ, dw + ε dρ

(left tangent of SE(3); ε² = 0). Its time derivative at constant dΩ follows by the same
rule. Velocities and accelerations so obtained are those of the discrete poses exactly:
the discrete system has a Lagrangian, and keeps its energy.

Kernels here are written so that they also run on complex numbers: a complex step gives
their derivatives to rounding (models/tree_sensitivity).
"""

from models.numerics import inner_kernel

__all__ = [
    "cross",
    "screw_bracket",
    "step_bias",
    "step_column",
    "step_pose",
]


@inner_kernel
def cross(
    ax: float, ay: float, az: float, bx: float, by: float, bz: float
) -> tuple[float, float, float]:
    """Cross product of two vectors."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inner_kernel
def screw_bracket(
    ax: float,
    ay: float,
    az: float,
    au: float,
    av: float,
    aw: float,
    bx: float,
    by: float,
    bz: float,
    bu: float,
    bv: float,
    bw: float,
) -> tuple[float, float, float, float, float, float]:
    """Lie bracket ad_a b of two twists, angular first."""
    x, y, z = cross(ax, ay, az, bx, by, bz)
    p, q, r = cross(ax, ay, az, bu, bv, bw)
    s, t, u = cross(au, av, aw, bx, by, bz)
    return x, y, z, p + s, q + t, r + u


@inner_kernel
def step_pose(
    a: float,
    b: float,
    c: float,
    x: float,
    y: float,
    z: float,
    p: float,
    q: float,
    r: float,
) -> tuple[
    float,
    float,
    float,
    float,
    float,
    float,
    float,
    float,
    float,
    float,
    float,
    float,
]:
    """Pose exp(Ω) of a step.

    Args:
        a: coefficient a of `models.arc.arc_coefficients`.
        b: coefficient b.
        c: coefficient c.
        x: rotation of Ω [rad], first component.
        y: second component.
        z: third component.
        p: translation of Ω [m], first component.
        q: second component.
        r: third component.

    Returns:
        The rotation row by row, then the position [m].
    """
    u = x * x + y * y + z * z
    cosine = 1.0 - a * u
    ax, ay, az = a * x, a * y, a * z
    bx, by, bz = b * x, b * y, b * z
    s, t, v = cross(x, y, z, p, q, r)
    along = c * (x * p + y * q + z * r)
    return (
        cosine + ax * x,
        ax * y - bz,
        ax * z + by,
        ax * y + bz,
        cosine + ay * y,
        ay * z - bx,
        ax * z - by,
        ay * z + bx,
        cosine + az * z,
        b * p + a * s + along * x,
        b * q + a * t + along * y,
        b * r + a * v + along * z,
    )


@inner_kernel
def step_column(
    a: float,
    b: float,
    c: float,
    da: float,
    db: float,
    dc: float,
    x: float,
    y: float,
    z: float,
    p: float,
    q: float,
    r: float,
    dx: float,
    dy: float,
    dz: float,
    dp: float,
    dq: float,
    dr: float,
) -> tuple[float, float, float, float, float, float]:
    """Twist of a step's end, in the frame of its start, for a change dΩ of its strain.

    Args:
        a: coefficient a of `models.arc.arc_coefficients`.
        b: coefficient b.
        c: coefficient c.
        da: da/du.
        db: db/du.
        dc: dc/du.
        x: rotation of Ω [rad], first component.
        y: second component.
        z: third component.
        p: translation of Ω [m], first component.
        q: second component.
        r: third component.
        dx: rotation of dΩ, first component.
        dy: second component.
        dz: third component.
        dp: translation of dΩ, first component.
        dq: second component.
        dr: third component.

    Returns:
        The twist, angular first.
    """
    turn = x * dx + y * dy + z * dz
    sx, sy, sz = cross(x, y, z, dx, dy, dz)
    tx, ty, tz = cross(x, y, z, dp, dq, dr)
    ux, uy, uz = cross(p, q, r, dx, dy, dz)
    du = 2.0 * (x * p + y * q + z * r)
    dual = p * dx + q * dy + r * dz + x * dp + y * dq + z * dr
    c_turn = c * turn
    w_part = dc * du * turn + c * dual
    bd = db * du
    ad = da * du
    return (
        b * dx + a * sx + c_turn * x,
        b * dy + a * sy + c_turn * y,
        b * dz + a * sz + c_turn * z,
        bd * dx + b * dp + ad * sx + a * (tx + ux) + w_part * x + c_turn * p,
        bd * dy + b * dq + ad * sy + a * (ty + uy) + w_part * y + c_turn * q,
        bd * dz + b * dr + ad * sz + a * (tz + uz) + w_part * z + c_turn * r,
    )


@inner_kernel
def step_bias(
    a: float,
    b: float,
    c: float,
    da: float,
    db: float,
    dc: float,
    dda: float,
    ddb: float,
    ddc: float,
    x: float,
    y: float,
    z: float,
    p: float,
    q: float,
    r: float,
    dx: float,
    dy: float,
    dz: float,
    dp: float,
    dq: float,
    dr: float,
) -> tuple[float, float, float, float, float, float]:
    """Time derivative of `step_column` at constant dΩ/dt, Ω moving with dΩ/dt itself.

    Args:
        a: coefficient a of `models.arc.arc_coefficients`.
        b: coefficient b.
        c: coefficient c.
        da: da/du.
        db: db/du.
        dc: dc/du.
        dda: second derivative of a.
        ddb: second derivative of b.
        ddc: second derivative of c.
        x: rotation of Ω [rad], first component.
        y: second component.
        z: third component.
        p: translation of Ω [m], first component.
        q: second component.
        r: third component.
        dx: rotation of dΩ/dt, first component.
        dy: second component.
        dz: third component.
        dp: translation of dΩ/dt, first component.
        dq: second component.
        dr: third component.

    Returns:
        Six numbers, angular first; without the share of d²Ω/dt².
    """
    m = x * dx + y * dy + z * dz
    n = dx * dx + dy * dy + dz * dz
    du = 2.0 * (x * p + y * q + z * r)
    dm = p * dx + q * dy + r * dz + x * dp + y * dq + z * dr
    dn = 2.0 * (dx * dp + dy * dq + dz * dr)
    s = 2.0 * m
    ds = 2.0 * dm
    sx, sy, sz = cross(x, y, z, dx, dy, dz)
    tx, ty, tz = cross(x, y, z, dp, dq, dr)
    ux, uy, uz = cross(p, q, r, dx, dy, dz)
    rate = db * s + c * m
    turn = da * s
    own = dc * s * m + c * n
    rate_d = ddb * du * s + db * ds + dc * du * m + c * dm
    turn_d = dda * du * s + da * ds
    own_d = ddc * du * s * m + dc * ds * m + dc * s * dm + dc * du * n + c * dn
    return (
        rate * dx + turn * sx + own * x,
        rate * dy + turn * sy + own * y,
        rate * dz + turn * sz + own * z,
        rate_d * dx + rate * dp + turn_d * sx + turn * (tx + ux) + own_d * x + own * p,
        rate_d * dy + rate * dq + turn_d * sy + turn * (ty + uy) + own_d * y + own * q,
        rate_d * dz + rate * dr + turn_d * sz + turn * (tz + uz) + own_d * z + own * r,
    )
