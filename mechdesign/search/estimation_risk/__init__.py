"""Risks of distribution estimation: the best mixture of extreme rays."""
