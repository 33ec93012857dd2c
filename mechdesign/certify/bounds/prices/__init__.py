"""Bounds on losses from prices of the inputs alone: the checker finds the best column itself."""
