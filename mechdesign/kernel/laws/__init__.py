"""Files of structured mechanisms: a law of a few integers instead of a matrix.

A law is checked for one notion, a single generator whose rows have one exponent. If noise was
designed for a problem, its value and a bound on the loss of every private channel are checked as
for a matrix; its outputs are the inputs, which the problem does not list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from mechdesign.errors import CertificateError
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.certificate import Certificate, Steps
from mechdesign.kernel.claims import Verified, check_status, verify_bound, verify_value
from mechdesign.kernel.documents import Claim, Designed
from mechdesign.kernel.laws.base import WHOLE, Law, Leak
from mechdesign.kernel.laws.blocks import ByComponent, HighLow
from mechdesign.kernel.laws.design import loss_of_noise, loss_steps
from mechdesign.kernel.laws.ratios import ConstantLaw, LIPRandomizedResponse
from mechdesign.kernel.laws.torus import GeometricNoise, PlanarLaplace, Torus
from mechdesign.kernel.names import Compiled, ProblemTable, compile_problem
from mechdesign.kernel.packed import exact as number
from mechdesign.kernel.schema import read
from mechdesign.resources import STEPS_PER_ENTRY, current, entries_of

__all__ = ["WHOLE", "DesignedLawFile", "Law", "LawFile", "Laws", "verify_law"]

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
    certificate: Certificate


def verify_law(document: dict[str, Any]) -> Verified:
    """Check every claim of a saved law with a valid format and digest.

    Raises
    ------
    CertificateError
        At the first claim that does not hold.
    LimitError
        If the check takes more steps than `resources` allows.
    """
    designed = "certificate" in document
    file: LawFile | DesignedLawFile = read(DesignedLawFile if designed else LawFile, document)
    allowed = current().steps + STEPS_PER_ENTRY * entries_of(document)
    steps, law, table = Steps(allowed), file.law, file.problem
    need(table.outputs is None and not table.constraints, "a law has no outputs or constraints")
    need(designed or table.utility is None, "the file claims no value for its objective")
    single = len(table.privacy) == 1 and table.privacy[0].name in BUDGETED
    need(single, "a law needs exactly one notion that bounds ratios or lifts by an epsilon")
    # such a notion takes no more work than its table
    steps.take(5 * replace(table, privacy=()).steps(), "the statement")
    if designed:
        table = replace(table, outputs=table.domain.inputs().labels)
    problem = compile_problem(table)
    (part,), k = problem.statement.cone, problem.statement.k
    steps.take(law.steps(part, k), f"the law {law.kind!r}")
    leak = law.leak(part, k)
    sums = f"{law.kind} on {k} inputs: rows sum to 1 exactly, by the integers of its law"
    found = Verified((sums, _verify_privacy(table.privacy[0], file.privacy, leak)))
    if not isinstance(file, DesignedLawFile):
        return found
    return _verify_design(file, problem, leak, found.claims, allowed)


def _verify_privacy(notion: Any, claims: tuple[Claim, ...], leak: Leak) -> str:
    """Check the notion as stated, and that the claimed leakage is the least possible."""
    name, shown = notion.name, claims[0].leakage if claims else 0.0
    wanted = Claim(name, shown, certified=True, epsilon=float(notion.epsilon))
    need(claims == (wanted,), f"{name}: the claimed notion is not that of the problem")
    need(leak.stated == notion.epsilon, f"{name}: no structured mechanism is supported for it")
    leakage, more = number(shown), f"{name}: leaks more than {float(shown)!r}"
    need(leak.within(leak.stated), f"{name}: not private: a ratio is too large")
    need(leakage >= 0, f"{more}: it is at least 0")
    need(leak.within(leakage), more)
    need(leak.reaches(leakage), f"{name}: leaks less than the claimed {float(shown)!r}")
    return f"{name}: private as stated, exactly; leakage {float(shown):.10g}"


def _verify_design(
    file: DesignedLawFile, problem: Compiled, leak: Leak, claims: tuple[str, ...], allowed: int
) -> Verified:
    """Check the value and the bound; return them with the other verified claims."""
    statement, utility = problem.statement, problem.table.utility
    if not isinstance(leak, Torus):
        raise CertificateError(f"no design is supported for {file.law.kind}")
    named = utility is not None and file.objective == utility.name and file.sense == "minimize"
    need(named, "the claimed objective is not that of the problem")
    need(file.bound_proved, "the file contains a proof but claims none")
    Steps(allowed).take(loss_steps(leak, statement), "the loss of noise")
    value = loss_of_noise(leak, statement)
    bound = file.certificate.bound(statement, Steps(allowed))
    words = f"{verify_value(value, file.value)} of the law"
    claims = (*claims, words, verify_bound(value, bound, file.bound, "channel"))
    check_status(file)
    return Verified(claims, value, bound)
