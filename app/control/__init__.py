"""The 1 kHz control path: the tick, the compiled loop and its mailboxes."""
