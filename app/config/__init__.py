"""TOML files to frozen, validated parameters, and those to a Model.

Import from the modules: the emulator needs `app.config.link` alone, and not the
compiler that `app.config.robot` brings with the models.
"""
