"""Compiles the tables of a problem to a statement.

:func:`compile_problem` is the only way from a problem in a file to proofs about it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.generators import Cone, distribution
from mechdesign.kernel.limits import Gauge, Information, Limit
from mechdesign.kernel.names import notions, objectives
from mechdesign.kernel.names.domains import Domain, Inputs, check_different
from mechdesign.kernel.names.notions import Notion
from mechdesign.kernel.names.objectives import Utility
from mechdesign.kernel.schema import Label
from mechdesign.kernel.statement import Statement

__all__ = [
    "Compiled",
    "Domain",
    "Inputs",
    "Notion",
    "Parts",
    "ProblemTable",
    "Utility",
    "compile_problem",
]


@dataclass(frozen=True)
class ProblemTable:
    """A problem with named notions and objective.

    ``domain``, ``prior``: the inputs.
    ``privacy``, ``utility``: the notions, and the objective.
    ``outputs``: the allowed outputs; None if the optimizer chooses them.
    ``constraints``: the user's own constraints: text, which a file only quotes.
    """

    domain: Domain
    prior: tuple[Fraction, ...] | None = None
    privacy: tuple[Notion, ...] = ()
    utility: Utility | None = None
    outputs: tuple[Label, ...] | None = None
    constraints: tuple[str, ...] = ()

    def steps(self) -> int:
        """Return a bound on the work of compiling it, from sizes."""
        k, of_pair = self.domain.size, sum(notions.OF_PAIRS.get(n.name, 0) for n in self.privacy)
        if self.utility is not None and self.utility.name in objectives.OF_PAIRS:
            of_pair += notions.DISTANCE
        return 50 * k * (2 + len(self.privacy)) + k * k * of_pair


@dataclass(frozen=True)
class Parts:
    """The generators and the limits of one notion, by their positions in a statement."""

    cone: range
    limits: range


@dataclass(frozen=True)
class Compiled:
    """A compiled problem.

    ``table``: the problem table.
    ``inputs``: its inputs.
    ``statement``: the statement.
    ``parts``: the generators and limits of each notion.
    """

    table: ProblemTable
    inputs: Inputs
    statement: Statement
    parts: tuple[Parts, ...]

    def alone(self, notion: Notion) -> Statement:
        """Return the statement of one notion only, without an objective.

        A notion may be one of the problem at another leakage: ``notion.at(leakage)``.
        """
        cone, limits = _asked(notion, self.inputs)
        return replace(self.statement, cone=tuple(cone), limits=tuple(limits), objective=None)


def compile_problem(table: ProblemTable) -> Compiled:
    """Return the statement of a problem."""
    k, prior = table.domain.size, table.prior
    inputs = table.domain.inputs(None if prior is None else distribution(prior, k))
    inputs = replace(inputs, outputs=table.outputs)
    cone, limits, parts = list[Cone](), list[Limit](), list[Parts]()
    for notion in table.privacy:
        notion.check()
        more, sums = _asked(notion, inputs)
        places = range(len(cone), len(cone) + len(more))
        parts.append(Parts(places, range(len(limits), len(limits) + len(sums))))
        cone += more
        limits += sums
    aim, sign = None, 1
    if table.outputs is not None:
        need(table.outputs, "the problem in the file allows no output")
        check_different(table.outputs, "output")
    if table.utility is not None:
        aim, sign = table.utility.form(inputs), table.utility.sign
    statement = Statement(k, tuple(cone), tuple(limits), aim, sign)
    return Compiled(table, inputs, statement, tuple(parts))


def _asked(notion: Notion, inputs: Inputs) -> tuple[list[Cone], list[Limit]]:
    """Return the generators and limits of a notion, checked against the inputs."""
    try:
        parts = notion.asked(inputs)
    except ArithmeticError as error:
        raise CertificateError(f"{notion.name}: {error}") from None
    for part in parts:
        part.check(inputs.size)
    limits = [part for part in parts if isinstance(part, Gauge | Information)]
    return [part for part in parts if not isinstance(part, Gauge | Information)], limits
