"""Devices that speak the real bytes over a pty or a socket, shipped to try things on.

They move like a first-order lag, or as a simulated robot says (`VirtualActuators`).
What each does not imitate is said in its module.
"""
