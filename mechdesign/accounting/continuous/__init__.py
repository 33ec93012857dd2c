"""Exact accounting of mechanisms for continuous data, with enclosures of irrational values."""
