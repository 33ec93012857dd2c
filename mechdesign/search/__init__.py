"""Routes, the methods that find the best channel, and the router that chooses one."""

from mechdesign.search.base import RawSolution
from mechdesign.search.route import RejectedRoute, Route
from mechdesign.search.router import AUTO, NOISE, ROUTES, plan

__all__ = [
    "AUTO",
    "NOISE",
    "ROUTES",
    "RawSolution",
    "RejectedRoute",
    "Route",
    "plan",
]
