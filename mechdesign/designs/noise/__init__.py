"""Designs of which the channel is noise on a line or a grid, too large for a matrix."""
