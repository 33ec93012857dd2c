"""Bounds on sums of gains over the outputs: potentials, and the largest gain less its price."""
