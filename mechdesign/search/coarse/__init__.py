"""Bounds for problems too large for one program, from representatives of the inputs."""
