"""Whoever drives: game controllers, the keyboard and scripted operators.

Each gives `app.messages.OperatorInput` samples stamped when its device was read; none
decides whether they are obeyed (`app.control.tick` does). Import the modules by name:
`gamepad` loads SDL, the others need no device.
"""
