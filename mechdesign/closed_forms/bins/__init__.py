"""Randomized response on bins of the inputs, for expected losses along a line of outputs."""
