"""A certificate: five slots, each independent of the others (the inequality is in `proof`)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechdesign.errors import LimitError
from mechdesign.kernel.generators import Block
from mechdesign.kernel.linearizations import Linearizations
from mechdesign.kernel.oracles import Oracles
from mechdesign.kernel.packed import Numbers
from mechdesign.kernel.proof import multiplier_steps, safe_bound
from mechdesign.kernel.relaxations import Average, Relaxations
from mechdesign.kernel.statement import Statement


class Steps:
    """Counts work before it begins, against a limit; None for no limit."""

    def __init__(self, allowed: int | None = None) -> None:
        self.spent, self.allowed = 0, allowed

    def take(self, steps: int, what: str) -> None:
        """Count more steps; raise LimitError past the limit."""
        self.spent += steps
        if self.allowed is not None and self.spent > self.allowed:
            more = f"steps={10 ** len(str(self.spent))}"
            hint = f"allow more with --allow {more} or resources.allow({more})"
            raise LimitError(what, f"at most {self.allowed} steps", self.spent, hint)


@dataclass(frozen=True)
class Certificate:
    """Evidence that no private channel has a smaller objective.

    ``relaxations``: taken in order.
    ``linearization``: of the objective after the relaxations.
    ``multipliers``: of rows and of parts of limits, by node.
    ``prices``: A price for each remaining input; None for 0.
    ``oracle``: makes the prices safe.
    """

    linearization: Linearizations
    oracle: Oracles
    relaxations: tuple[Relaxations, ...] = ()
    multipliers: tuple[Block, ...] = ()
    prices: Numbers | None = None

    @property
    def reference(self) -> tuple[Fraction, ...] | None:
        """The weights that replace a worst case, for which the estimator is made."""
        found = (r.normalized() for r in self.relaxations if isinstance(r, Average))
        return next(found, None)

    def bound(self, statement: Statement, steps: Steps | None = None) -> Fraction:
        """Return a lower bound on the objective of every private channel.

        ``statement``: the claimed statement.
        ``steps``: counts the work, against the reader's limit; None for no limit.

        Raises
        ------
        CertificateError
            If a part of the certificate is not for the statement.
        LimitError
            If the work exceeds the limit; it is then not started.
        """
        steps = steps or Steps()
        for relaxation in self.relaxations:
            steps.take(relaxation.steps(statement), f"the relaxation {relaxation.kind!r}")
            statement = relaxation(statement)
        line = self.linearization
        steps.take(line.steps(statement), f"the linearization {line.kind!r}")
        program = line(statement)
        nodes = len(program.nodes or ())
        steps.take(multiplier_steps(statement, nodes, self.multipliers), "multipliers")
        steps.take(self.oracle.steps(statement, program), f"the oracle {self.oracle.kind!r}")
        return safe_bound(statement, program, self.multipliers, self.prices, self.oracle)
