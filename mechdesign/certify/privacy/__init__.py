"""Exact checks of the privacy of a channel, in integers; readable without ``bounds``."""
