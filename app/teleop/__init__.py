"""Teleoperation strategies, one module each, as pure kernels of the control tick."""
