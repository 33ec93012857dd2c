"""Closed forms for tests between two laws of the input."""
