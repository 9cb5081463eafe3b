"""Which fields of a signal each strategy tells, by the strategy's number.

Down goes what the master half tells, up what the slave half does. Positions of the
strategies that follow are in the coordinates of a setpoint, and of all in telemetry.

| number, strategy    | down                     | up                        |
|---------------------|--------------------------|---------------------------|
| 0 position-position | position, velocity       | position, velocity, force |
| 1 position-force    | position, velocity       | position, force           |
| 2 wave variables    | wave, integral           | position, wave, integral  |
| 3 two-port TDPA     | position, velocity,      | position, force, energy   |
|                     | energy                   |                           |
| 4 model-mediated    | force                    |                           |
| 5 predictive        |                          |                           |
| 6 move and wait     |                          |                           |
| 7 supervised        |                          |                           |
"""

from app.link.signal_section import SignalField

__all__ = ["DOWN_FIELDS", "UP_FIELDS"]

_NOTHING = SignalField(0)
_POSITION, _VELOCITY = SignalField.POSITION, SignalField.VELOCITY
_FORCE, _ENERGY = SignalField.FORCE, SignalField.ENERGY
_WAVES = SignalField.WAVE | SignalField.INTEGRAL

DOWN_FIELDS = (
    _POSITION | _VELOCITY,
    _POSITION | _VELOCITY,
    _WAVES,
    _POSITION | _VELOCITY | _ENERGY,
    _FORCE,
    _NOTHING,
    _NOTHING,
    _NOTHING,
)
UP_FIELDS = (
    _POSITION | _VELOCITY | _FORCE,
    _POSITION | _FORCE,
    _POSITION | _WAVES,
    _POSITION | _FORCE | _ENERGY,
    _NOTHING,
    _NOTHING,
    _NOTHING,
    _NOTHING,
)
