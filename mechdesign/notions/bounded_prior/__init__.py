"""Bounds on the lift under every prior of a set: LIP, pointwise maximal leakage, either side."""
