"""Refinement: an exact decision of whether one channel is a post-processing of another."""
