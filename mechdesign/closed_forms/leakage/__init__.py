"""Bounds on the whole leakage: maximal leakage."""
