"""Priors: prior mismatch, and priors estimated from samples."""
