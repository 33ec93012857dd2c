"""Privacy: exact checks of a channel in integers, with nothing about optimality."""
