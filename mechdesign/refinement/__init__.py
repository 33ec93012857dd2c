"""Refinement: whether one channel is another one with its output post-processed, exactly."""
