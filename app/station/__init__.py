"""The operator's process without a window: control, link, operator and recorder."""
