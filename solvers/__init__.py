"""Every way to solve one problem behind one signature: ``solve(problem) -> SolverResult``.

For benchmarks and cross-checks; the library never imports this. To add one, write it in a file of
its own and name it in :data:`SOLVERS`.

>>> from problems.families import randomized_response
>>> from solvers import SOLVERS
>>> [round(SOLVERS[name](randomized_response(4)).value, 6) for name in ("ours", "textbook")]
[0.524633, 0.524633]
"""

from __future__ import annotations

from solvers.base import FailedError, Solver, SolverResult, UnsuitableError
from solvers.direct_lp import solve as direct_lp
from solvers.libqif import solve as by_libqif
from solvers.ours import by_route
from solvers.textbook import by_conic_solver
from solvers.vectorised import by_backend
from solvers.vertices import solve as vertices

__all__ = ["SOLVERS", "FailedError", "Solver", "SolverResult", "UnsuitableError"]

SOLVERS: dict[str, Solver] = {
    "ours": by_route("auto", "ours"),
    "closed-form": by_route("closed-form"),
    "linear-program": by_route("linear-program"),
    "linear-program:ipm": by_route("linear-program:ipm"),
    "linear-program:simplex": by_route("linear-program:simplex"),
    "decoder-grid": by_route("decoder-grid"),
    "extreme-rays": by_route("extreme-rays"),
    "cvxpy:CLARABEL": by_route("cvxpy:CLARABEL"),
    "cvxpy:ECOS": by_route("cvxpy:ECOS"),
    "cvxpy:SCS": by_route("cvxpy:SCS"),
    "cvxpy:HIGHS": by_route("cvxpy:HIGHS"),
    "textbook": by_conic_solver("CLARABEL", "textbook"),
    "textbook:ECOS": by_conic_solver("ECOS", "textbook:ECOS"),
    "textbook:SCS": by_conic_solver("SCS", "textbook:SCS"),
    "textbook:HIGHS": by_conic_solver("HIGHS", "textbook:HIGHS"),
    "vectorised:CLARABEL": by_backend("CLARABEL", "vectorised:CLARABEL"),
    "vectorised:ECOS": by_backend("ECOS", "vectorised:ECOS"),
    "vectorised:SCS": by_backend("SCS", "vectorised:SCS"),
    "vectorised:HIGHS": by_backend("HIGHS", "vectorised:HIGHS"),
    "direct-lp": direct_lp,
    "libqif": by_libqif,
    "vertices": vertices,
}
"""Every solver by its name."""
