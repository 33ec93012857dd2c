"""Exact bounds on the objective of every private channel, by weak duality and by theorems."""
