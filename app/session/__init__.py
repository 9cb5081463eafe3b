"""The recording of a session: one MCAP file, its schemas, its writer and its reader."""
