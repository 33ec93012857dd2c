"""Advice: which mechanism to take, and how large to make blocks."""
