"""Components: groups of inputs that share no row are independent programs.

A column of the cone consists of a column for each component, and an expected loss is the sum of
theirs. A worst case joins all inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain

import numpy as np

from mechdesign._typing import IntArray
from mechdesign.search.presolve.reduction import Answer, ConicProgram, Reduced


def components(program: ConicProgram) -> Reduced | None:
    """Restrict the cone and the cost of a program to every component of its cone."""
    if program.worst_case or program.input_orbit is not None:
        return None
    component = program.cone.components()
    count = int(component.max()) + 1
    if count == 1:
        return None
    members = tuple(np.flatnonzero(component == part) for part in range(count))
    programs = tuple(
        ConicProgram(
            program.cone.restricted(inputs), program.cost[inputs], is_priced=program.is_priced
        )
        for inputs in members
    )
    note = f"{count} groups that share no row, solved apart"
    return Reduced(programs, note, partial(_joined, program, members))


def _joined(whole: ConicProgram, members: Sequence[IntArray], answers: Sequence[Answer]) -> Answer:
    """Put the rows of the channel in place, and rename the inputs to those of the whole."""
    matrix = np.zeros(whole.cost.shape)
    for inputs, answer in zip(members, answers, strict=True):
        matrix[inputs] = answer.matrix
    duals = [
        whole.cone.families[found.notion].renamed(found, inputs)
        for inputs, answer in zip(members, answers, strict=True)
        for found in answer.duals
        if not whole.is_priced
    ]
    potentials = None
    if all(answer.potentials is not None for answer in answers):
        potentials = np.concatenate([answer.potentials for answer in answers])
        potentials = potentials[np.argsort(np.concatenate(members))]
    route = " and ".join(dict.fromkeys(answer.route for answer in answers))
    reductions, notes = (
        tuple(dict.fromkeys(chain.from_iterable(said)))
        for said in ([a.reductions for a in answers], [a.notes for a in answers])
    )
    return Answer(matrix, duals, route, potentials, reductions=reductions, notes=notes)
