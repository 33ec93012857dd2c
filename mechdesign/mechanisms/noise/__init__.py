"""Noise on lines and grids for metric privacy: its law, its mechanisms, and remap tables."""
