"""Leakage of the sum of bit vectors to an aggregator who sees only this sum."""
