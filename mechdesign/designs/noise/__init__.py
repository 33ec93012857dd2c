"""Designs of noise on a line or a grid that is too large for a matrix."""
