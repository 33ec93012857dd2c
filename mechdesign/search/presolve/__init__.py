"""Presolve: reductions to a smaller problem with the same optimum."""
