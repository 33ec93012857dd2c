"""Measures: the exact leakage of one channel under every notion."""
