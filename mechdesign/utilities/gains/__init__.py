"""Gains: Fisher information, f-divergences of two hypotheses, and the gain of a guess."""
