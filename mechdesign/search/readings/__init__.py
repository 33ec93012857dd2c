"""Unbiased readings of least variance: linear programs over readings and rays of the cone."""
