"""Mechanisms whose reports are numbers, each likelier for some of the inputs."""
