"""Column generation: a linear program over the extreme rays that price out."""
