"""Honest files of small problems: designs of random ones, some with a proof of more steps."""

from __future__ import annotations

import copy
import functools
import itertools
import random
from fractions import Fraction
from typing import Any

from benchmarks.bounded_sample import random_problem
from mechdesign import design
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.names import ProblemTable, compile_problem
from mechdesign.kernel.packed import exact
from mechdesign.kernel.schema import read
from tests.documents import as_read
from tests.independent.files import check
from tests.independent.rationals import RefusedError, Unable
from tests.independent.reading import seal

Document = dict[str, Any]

ROUNDING = 1e-11


def draw_document(seed: int) -> Document:
    """Draw a problem with two to four inputs that the second verifier can check."""
    return copy.deepcopy(_first(seed))


@functools.cache
def _first(seed: int) -> Document:
    found = (_drawn(seed, number) for number in itertools.count())
    return next(document for document in found if document)


def _drawn(seed: int, number: int) -> Document | None:
    problem, draw = random_problem(seed, number, range(2, 5))[2], random.Random(seed)
    document = as_read(design(problem))
    every = [*range(len(document["channel"]["inputs"]))]
    steps = [
        ("oracle", {"kind": "rays", "source": {"kind": "double-description"}}),
        ("relaxations", {"kind": "restrict", "inputs": every}),
        ("relaxations", {"kind": "implied", "alone": False}),
        ("relaxations", {"kind": "representatives", "stands": every}),
    ]
    try:
        check(document)
    except Unable:
        return None
    for slot, entry in draw.sample(steps, draw.randrange(4)):
        longer = copy.deepcopy(document)
        proof = longer["certificate"]
        proof[slot] = entry if slot == "oracle" else [*proof.get(slot, []), entry]
        longer["digest"] = seal(longer)
        try:
            check(longer)
        except RefusedError:  # it proves less, or nothing
            continue
        sign = -1 if longer["sense"] == "maximize" else 1
        short = sign * exact(longer["bound"]) - kernel_bound(longer)
        if not 0 < short < ROUNDING:  # the second verifier allows for rounding, the kernel does not
            document = longer
    return document


def kernel_bound(document: Document) -> Fraction:
    """Return the bound on the loss that the kernel proves."""
    problem = compile_problem(read(ProblemTable, document["problem"], "problem"))
    certificate = read(Certificate, document["certificate"], "certificate")
    return certificate.bound(problem.statement)
