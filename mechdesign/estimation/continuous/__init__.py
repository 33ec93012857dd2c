"""Estimates for continuous inputs, over cells or over the nodes that numbers are rounded to."""
