"""Conic programs: cvxpy, the user's own terms, and non-conic notions."""
