"""Conic programs: cvxpy, terms of the user, and non-conic notions."""
