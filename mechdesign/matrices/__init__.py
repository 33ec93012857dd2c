"""Matrices in exact integers."""
