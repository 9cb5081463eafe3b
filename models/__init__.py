"""The mathematics of limblink: numpy and numba only, no I/O, no clock, no Qt."""
