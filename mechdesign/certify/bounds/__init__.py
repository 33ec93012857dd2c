"""Optimality: rational lower bounds on the loss of every private channel."""
