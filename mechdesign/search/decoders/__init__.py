"""Posterior-mean squared error: linear programs over decoders."""
