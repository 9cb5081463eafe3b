"""What the station and the robot are doing."""

from enum import IntEnum, IntFlag

__all__ = ["RobotFault", "RobotState", "StationMode"]


class StationMode(IntEnum):
    """The station's arming state."""

    DISARMED = 0
    ARMED = 1
    ESTOP = 2


class RobotState(IntEnum):
    """What the robot's bridge is doing, by its own decision."""

    IDLE = 0  # never engaged, or disarmed: compliant, waits for a new arming
    ACTIVE = 1  # follows fresh setpoints
    HOLD = 2  # silence or disarm: holds the last applied pose
    COMPLIANT = 3  # long silence: tendons at low tension; needs a new arming
    SLACK = 4  # very long silence: tendons slack; needs a new arming
    ESTOP = 5  # latched


class RobotFault(IntFlag):
    """What is wrong with the robot's actuators and sensors; told in telemetry."""

    BUS = 1  # a bus is lost
    SENSOR = 2  # a measurement is not believed
    LOAD = 4  # an actuator was over its load
    HOT = 8  # an actuator was over its temperature
    DEVICE = 16  # a device reports a fault of its own
    RATE = 32  # a bus holds too few rounds a second
