"""Designs: the facade, many problems, frontiers, and the least epsilon for a loss."""
