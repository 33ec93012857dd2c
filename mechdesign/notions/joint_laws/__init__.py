"""Sensitive attributes whose joint law with the input is known only up to a set."""
