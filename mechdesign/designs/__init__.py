"""Designs: the certified solution of a problem, and the least epsilon for a given loss."""
