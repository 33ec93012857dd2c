"""Routes: methods to find the best channel, and the router that picks one, with the reason."""

from mechdesign.routes.base import RawSolution
from mechdesign.routes.route import Attempt, Considered, Route, Verdict
from mechdesign.routes.router import AUTO, NOISE, ROUTES, plan

__all__ = [
    "AUTO",
    "NOISE",
    "ROUTES",
    "Attempt",
    "Considered",
    "RawSolution",
    "Route",
    "Verdict",
    "plan",
]
