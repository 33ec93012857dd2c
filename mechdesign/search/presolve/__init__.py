"""Presolve: reductions that leave a smaller problem with the same optimum."""
