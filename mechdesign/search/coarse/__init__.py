"""Bounds for problems too large to be written out, from some inputs that stand for the others."""
