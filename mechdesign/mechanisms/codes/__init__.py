"""Mechanisms whose reports are numbers, each more likely at some of the inputs."""
