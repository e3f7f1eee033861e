"""Settings, with their units and bounds, and aliases of models.

The way begins at settings.Settings, which declares every setting once: parser, help and completion are made from
it. Settings.changed reads what a user typed.
"""
