"""Files of structured mechanisms: a law of a few integers instead of a matrix.

A law is checked for one notion, a single generator whose rows have one exponent. If noise was
designed for a problem, its value and a bound on the loss of every private channel are checked as
for a matrix; its outputs are the inputs, which the problem does not list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from mechdesign.kernel.arithmetic import expect, need
from mechdesign.kernel.certificate import Steps
from mechdesign.kernel.claims import Subject
from mechdesign.kernel.documents import Claim, Designed
from mechdesign.kernel.laws.design import loss_of_noise, loss_steps
from mechdesign.kernel.laws.ratios import (
    WHOLE,
    ByComponent,
    ConstantLaw,
    HighLow,
    Law,
    LIPRandomizedResponse,
)
from mechdesign.kernel.laws.torus import GeometricNoise, PlanarLaplace, Torus
from mechdesign.kernel.names import ProblemTable, compile_problem
from mechdesign.kernel.schema import read

__all__ = ["WHOLE", "DesignedLawFile", "Law", "LawFile", "Laws", "read_law"]

Laws = ConstantLaw | ByComponent | HighLow | LIPRandomizedResponse | GeometricNoise | PlanarLaplace
"""A law, of one of the kinds."""

BUDGETED = {"ldp", "differential-identifiability", "high-low", "block", "metric", "lip", "pml"}
"""The notions that bound ratios or lifts by an epsilon."""


@dataclass(frozen=True)
class LawFile:
    """A structured mechanism under a notion."""

    format: Literal["mechdesign-channel"]
    version: int
    source: str
    privacy: tuple[Claim, ...]
    law: Laws
    problem: ProblemTable
    digest: str


@dataclass(frozen=True, kw_only=True)
class DesignedLawFile(Designed):
    """Designed noise with its problem and proof."""

    law: Laws


def read_law(document: dict[str, Any], steps: Steps) -> tuple[Any, Subject]:
    """Return the tables of a file of a law, and the law on the inputs of the problem."""
    designed = "certificate" in document
    file: LawFile | DesignedLawFile = read(DesignedLawFile if designed else LawFile, document)
    law, table = file.law, file.problem
    need(table.outputs is None and not table.constraints, "a law has no outputs or constraints")
    need(designed or table.utility is None, "the file claims no value for its objective")
    single = len(table.privacy) == 1 and table.privacy[0].name in BUDGETED
    need(single, "a law needs exactly one notion that bounds ratios or lifts by an epsilon")
    # such a notion takes no more work than its table
    steps.take(replace(table, privacy=()).steps(), "the statement")
    if designed:
        table = replace(table, outputs=table.domain.inputs().labels)
    statement, (notion,) = compile_problem(table).statement, table.privacy
    (part,), k = statement.cone, statement.k
    steps.take(law.steps(part, k), f"the law {law.kind!r}")
    leak = law.leak(part, k)

    def found() -> tuple[Fraction, None]:
        noise = expect(leak, Torus, f"no design is supported for {law.kind}")
        steps.take(loss_steps(noise, statement), "the loss of noise")
        return loss_of_noise(noise, statement), None

    rows = f"{law.kind} on {k} inputs: rows sum to 1 exactly, by the integers of its law"
    leaks = [(notion, leak)]
    return file, Subject(
        rows,
        leaks,
        table.utility,
        statement.sign,
        found,
        lambda proof, allowed: proof.bound(statement, allowed),
    )
