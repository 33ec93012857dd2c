"""Designs: one problem, many problems, frontiers, and the least epsilon for a loss."""
