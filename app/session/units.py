"""Units of a recording's fields, by name."""

__all__ = ["unit_of"]

_UNITS = {
    "rate": "1 (of the tip speed limit), hull frame",
    "target": "m, hull frame",
    "target_position": "m, hull frame",
    "reach_error": "m",
    "coordinates_commanded": "rad, rad, m",
    "tip_commanded": "m, hull frame",
    "coordinates_model": "rad, rad, m",
    "rates_model": "rad/s, rad/s, m/s",
    "tip_model": "m, hull frame",
    "servo_length_model": "m",
    "tension_model": "N",
    "velocity": "m/s, hull frame",
    "grip": "1 (0 open, 1 closed)",
    "force_hand": "N, hull frame",
    **{
        f"{way}_{name}": unit
        for way in ("sent", "heard")
        for name, unit in (
            ("position", "m, hull frame"),
            ("velocity", "m/s, hull frame"),
            ("force", "N, hull frame"),
            ("wave", "W^0.5, hull frame"),
            ("wave_integral", "W^0.5 s, hull frame"),
            ("energy", "J"),
        )
    },
    "port_energy": "J",
    "injected_energy": "J",
    "mismatch": "m",
    "tube": "m",
    **{
        f"{surface}_{name}": unit
        for surface in ("surface", "report")
        for name, unit in (
            ("point", "m, hull frame"),
            ("normal", "1, hull frame"),
            ("radius", "m"),
            ("stiffness", "N/m^n, n the exponent"),
        )
    },
    "report_damping": "N s/m (times 1/m^n where n is not 1)",
    "report_exponent": "1",
    "report_confidence": "1",
    "contact_force": "N, hull frame",
    "blend": "1 (greatest share of the tip's velocity)",
    "blend_share": "1 (share of the tip's velocity)",
    "aim": "m, hull frame",
    "goal_progress": "1",
    "position": "m, hull frame",
    "normal": "1, hull frame",
    "path": "m, hull frame",
    "speed": "m/s",
    "force": "N",
    "time": "s",
    "tolerance": "m",
    "goal_force": "N",
    "goal_tolerance": "m",
    "goal_position": "m, hull frame",
    "goal_normal": "1, hull frame",
    "goal_path": "m, hull frame",
    "goal_grip": "1 (0 open, 1 closed)",
    "object_position": "m, hull frame",
    "object_turn": "1 (quaternion w x y z, object to hull)",
    "confirmed_coordinates": "rad, rad, m",
    "confirmed_tension": "N",
    "loss_down": "1",
    "loss_up": "1",
    "loss_set": "1",
    "outage_s": "s",
    "distance_m": "m",
    "size_bytes": "byte",
    "root_position": "m, world",
    "root_orientation": "1 (quaternion w x y z, root to world)",
    "root_twist": "rad/s, rad/s, rad/s, m/s, m/s, m/s, root frame",
    "coordinates": "rad or m, by coordinate: see names.coordinates",
    "coordinate_rates": "rad/s or m/s, by coordinate",
    "tips": "m, world",
    "energy": "J (kinetic, elastic, potential)",
    "loads": "by channel: see names.loads",
    "base_wrench": "N m, N m, N m, N, N, N, root frame, about the base",
    "objects": "m, m, m, 1, 1, 1, 1 (position, quaternion w x y z) each, world",
    "offset_ns": "ns, robot's clock minus station's",
    "drift_ppm": "1e-6",
    "loss": "1",
    "coordinates_measured": "rad, rad, m",
    "coordinates_true": "rad, rad, m",
    "coordinates_applied": "rad, rad, m",
    "tension_measured": "N",
    "timestamp": "s and ns since the clock's zero",
}
"""Units of the fields whose names do not end in their unit."""

_SUFFIX_UNITS = {"_ns": "ns", "_ms": "ms", "_bps": "bit/s", "_hz": "Hz"}


def unit_of(name: str) -> str:
    """Return the unit of a field, "" where it has none."""
    if name in _UNITS:
        return _UNITS[name]
    for suffix, unit in _SUFFIX_UNITS.items():
        if name.endswith(suffix):
            return unit
    return ""
