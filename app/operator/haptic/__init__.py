"""Devices that are held in a hand and push back.

    device   base           one contract; inverse3, force_dimension, spacemouse
     -> worker              own thread, 1 kHz: reads, limits, writes
         -> HapticSample    latest value: pose, velocity, buttons, stamp
         -> mapping         kernel of the control tick: hand -> tip target
         <- HapticForce     latest value: what the hand shall feel
         -> rendering       kernel: limit, slew limit, fade where the force is stale

Each device has a virtual one that speaks the same bytes, held by a simulated hand
(`hand`). Import the modules by name: none of them needs the vendor's software before
a device is opened.
"""
