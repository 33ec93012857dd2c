"""Composition: the leakage of several releases about one input, or about a sequence."""
