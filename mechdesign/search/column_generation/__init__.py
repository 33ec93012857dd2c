"""Column generation: a linear program over the extreme rays of negative reduced cost."""
