"""Binding rows: inequalities of the notions that hold with equality and have a multiplier > 0.

The multipliers are those of a certificate. By complementary slackness (Boyd and Vandenberghe 2004,
section 5.5.2) they are positive only on rows that hold with equality at the optimum; a solver
returns small ones on other rows too, which are dropped here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import BoolArray, FloatArray, IntArray
from mechdesign.channel import Channel
from mechdesign.domain import Label, plain_label
from mechdesign.errors import shown
from mechdesign.evidence.rows import ceiling_of
from mechdesign.kernel.certificate import Certificate
from mechdesign.kernel.generators import Latent, Lift, Listed
from mechdesign.kernel.linearizations import Boxes, Chords, Costs, Decoders, Readings
from mechdesign.kernel.oracles import Entropy, Knapsack, Line, OneBudget
from mechdesign.kernel.relaxations import Members, Representatives
from mechdesign.notions.rows.row import Multipliers
from mechdesign.prior_sets import Weights
from mechdesign.problem import Problem
from mechdesign.search.base import estimated_scalar

NEGLIGIBLE = 1e-7
"""Multipliers below this share of the largest are rounding errors of a solver."""

TIGHT = 1e-6
"""A row is tight if its slack is at most this share of its sides, times the exponent a if a is
below 1, as all slacks are then of the order of a."""

ROUNDING = 1e-12
"""Relative error of floating point."""

TINY = 1e-300

PRICED = (Line, OneBudget, Knapsack)
"""Oracles that verify prices of the inputs, without multipliers of rows."""

MOST_PRICED = 30_000
"""The largest number of entries of the columns for binding rows from prices."""


@dataclass(frozen=True)
class BindingRow:
    """A binding row of a notion.

    Attributes
    ----------
    notion
        The name of the notion in reports.
    row
        The row with the labels of the problem, as ``'flu' against 'healthy'`` for a ratio,
        ``max-lift of 'flu'``, or the name of a user's own row.
    output
        The output at whose column the row binds. None for a bound on all outputs together, and for
        a guess of the input without an output.
    multiplier
        Its dual variable, in the unit of the loss: that of ``e**-a (left . q) <= right . q``, or of
        a bound on the whole channel. The optimum improves with a at the rate of the multiplier
        times ``right . q``.
    inputs
        The two inputs of a ratio, the numerator first; empty for other rows.
    """

    notion: str
    row: str
    output: Label | None
    multiplier: float
    inputs: tuple[Label, ...] = ()

    def __str__(self) -> str:
        """Return the row, the output and the multiplier as text."""
        pair = " and ".join(map(label_text, self.inputs))
        head = "" if self.output is None else f"report {label_text(self.output)}: "
        return f"{head}{f'inputs {pair}' if pair else self.row} (price {self.multiplier:.3g})"

    def to_json(self) -> dict[str, Any]:
        """Return the row as in ``solve --json``."""
        output = None if self.output is None else plain_label(self.output)
        return {**vars(self), "output": output, "inputs": list(map(plain_label, self.inputs))}


def binding_of(
    problem: Problem,
    certificate: Certificate,
    channel: Channel,
    decoder: Sequence[Any] | None,
) -> tuple[BindingRow, ...]:
    """Return the rows that bind at a channel, in decreasing order of the multiplier.

    The multipliers are those of its certificate, or those implied by its prices. Rows at zero
    columns are included only if there are no others.
    """
    is_linear = problem.utility.linear_form is not None
    line, is_priced = certificate.linearization, isinstance(certificate.oracle, PRICED)
    is_priced = is_priced and isinstance(line, Costs) and is_linear
    has_rows = certificate.multipliers and not isinstance(line, Boxes | Chords)
    if not (is_priced or has_rows or isinstance(certificate.oracle, Entropy)):
        return ()
    outputs, Q, places = _columns(problem, certificate, channel, decoder)
    sent = Q.any(axis=0)
    for part in (np.flatnonzero(sent), np.flatnonzero(~sent)):
        columns = [outputs[y] for y in part.tolist()], Q[:, part], places[:, part]
        blocks = _multipliers_of(problem, certificate)
        if is_priced and not certificate.multipliers:
            blocks = _priced(problem, certificate, columns[2].argmax(axis=0).tolist())
            columns = *columns[:2], np.eye(len(part))
        found = [row for given in blocks for row in _binding(problem, channel, given, *columns)]
        least = NEGLIGIBLE * max((row.multiplier for row in found), default=0.0)
        if found:
            found = [row for row in found if row.multiplier > least]
            return tuple(sorted(found, key=lambda row: -row.multiplier))
    return ()


def _binding(
    problem: Problem,
    channel: Channel,
    given: Multipliers,
    outputs: Sequence[Label | None],
    Q: FloatArray,
    places: FloatArray,
) -> Iterator[BindingRow]:
    """Yield the tight rows of a notion at the columns ``Q``, ``(n_inputs, n_columns)``.

    ``places``, ``(n_certificate, n_columns)``, maps multipliers at the outputs of the certificate
    to multipliers at these columns.
    """
    n = given.notion
    notion, constraint = problem.privacy[n], problem.channel_constraints[n]
    labels = notion.protected(problem.domain).labels
    if constraint is not None:
        for limit, price, slack in constraint.bounds(given, channel.matrix):
            if slack <= TIGHT:
                yield BindingRow(notion.heading, notion.limit_name(limit, labels), None, price)
        return
    keys, key = np.unique(np.stack([given.x, given.other]), axis=1, return_inverse=True)
    shape = (keys.shape[1], len(places))
    weights = sp.csr_array((given.weight, (key.ravel(), given.output)), shape=shape)
    weights = sp.csr_array(weights @ sp.csr_array(places))
    weights.data[weights.data <= NEGLIGIBLE * weights.data.max(initial=0.0)] = 0
    weights.eliminate_zeros()
    entries = weights.tocoo()
    used, number = np.unique(entries.row, return_inverse=True)
    output: IntArray = entries.col.astype(np.intp)
    x, other = keys[:, used]
    named = replace(given, output=x, x=x, other=other, weight=x)
    family = problem.cone.families[n]
    rows, are_pairs = family.rows_of(named, labels), family.ratio_rows() is not None
    exponent = np.array([float(row.exponent) for row in rows])
    share = np.maximum(ROUNDING, TIGHT * np.minimum(1, abs(exponent)))
    terms = family.terms((given.side, x, other), given.priors or family.vertices)
    tight = _are_tight(terms, share, number.astype(np.intp), output, Q)
    for r, y, weight in zip(number[tight], output[tight], entries.data[tight], strict=True):
        pair = (labels[x[r]], labels[other[r]]) if are_pairs else ()
        yield BindingRow(notion.heading, rows[r].name, outputs[y], float(weight), pair)


def _columns(
    problem: Problem,
    certificate: Certificate,
    channel: Channel,
    decoder: Sequence[Any] | None,
) -> tuple[Sequence[Label | None], FloatArray, FloatArray]:
    """Return the columns at which rows may bind: those of all allowed outputs, or guesses.

    A certificate with decoders or probes has multipliers at these. Those at an output are
    interpolated between the nodes next to its estimate, as in the proof.
    """
    line = certificate.linearization
    if isinstance(line, Decoders | Readings):
        nodes = line.nodes if isinstance(line, Decoders) else line.probes
        points = np.array([float(s) for s in nodes])
        read = np.array([float(estimate) for estimate in decoder or _estimates(problem, channel)])
        places = np.array([np.interp(read, points, unit) for unit in np.eye(len(points))])
        return channel.outputs, channel.matrix, places
    allowed, form = problem.guesses, problem.utility.linear_form
    matrix = np.zeros((len(problem.domain), len(allowed)))
    outputs: list[Label | None] = [None] * len(allowed)
    if form is None or form is problem.utility:
        outputs = list(problem.outputs or outputs)
        used = [allowed.index(label) for label in channel.outputs]
    else:
        joint = problem.prior.array[:, None] * channel.matrix
        used = (joint.T @ form.loss(problem.domain, allowed).array).argmin(axis=1).tolist()
    for y, place in enumerate(used):
        matrix[:, place] += channel.matrix[:, y]
        outputs[place] = channel.outputs[y]
    return outputs, matrix, np.eye(len(allowed))


def _estimates(problem: Problem, channel: Channel) -> FloatArray:
    """Return the estimate from each output of the scalar whose decoders the certificate has."""
    scalar = estimated_scalar(problem)
    if scalar is None:
        return np.zeros(len(channel.outputs))
    values, law = (np.array([float(v) for v in vector]) for vector in scalar)
    total = np.maximum(law @ channel.matrix, TINY)
    return np.asarray((values * law) @ channel.matrix / total)


def _priced(
    problem: Problem, certificate: Certificate, allowed: list[int]
) -> Iterable[Multipliers]:
    """Return the multipliers implied by prices at some outputs."""
    from mechdesign.search.lp.lp_pricer import row_multipliers  # scipy

    if not 0 < len(problem.domain) * len(allowed) <= MOST_PRICED:
        return ()
    named = certificate.reference
    weights = None if named is None else np.array(list(map(float, named)))
    prices = np.array(list(map(float, certificate.prices or [0.0] * len(problem.domain))))
    prices += ceiling_of(problem) * problem.prior.array
    return row_multipliers(problem, prices, weights, allowed)


def _multipliers_of(problem: Problem, certificate: Certificate) -> Iterable[Multipliers]:
    """Yield the multipliers of a certificate, by notion."""
    compiled, statement = problem.compiled, problem.compiled.statement
    n_nodes = None
    if isinstance(certificate.linearization, Readings):
        n_nodes = len(certificate.linearization.probes)  # without those of the tails
    listed: dict[int, tuple[Weights, ...]] = {}
    stands: list[int] | None = None
    for relaxation in certificate.relaxations:
        if isinstance(relaxation, Members):
            listed[relaxation.place] = relaxation.priors
        if isinstance(relaxation, Representatives):
            stands = sorted(set(relaxation.stands))
    for block in certificate.multipliers:
        cones = block.of == "cone"
        n = next(
            n
            for n, parts in enumerate(compiled.parts)
            if block.place in (parts.cone if cones else parts.limits)
        )
        node, x = (np.array(numbers, dtype=np.intp) for numbers in (block.node, block.x))
        other = np.array(block.others, dtype=np.intp)
        weight = np.array([float(w) for w in block.weight])
        kept = node < (node.max(initial=0) + 1 if n_nodes is None else n_nodes)
        node, x, other, weight = node[kept], x[kept], other[kept], weight[kept]
        if not cones:
            other += block.place - compiled.parts[n].limits.start
            yield Multipliers("", node, x, other, weight, notion=n)
            continue
        if stands is not None:
            x, other = (np.array(stands, dtype=np.intp)[part] for part in (x, other))
        part = statement.cone[block.place]
        inner = part.inner if isinstance(part, Latent) else part
        priors = listed.get(block.place, ())
        if isinstance(inner, Lift) and not priors and isinstance(inner.priors, Listed):
            priors = inner.priors.priors
        yield Multipliers(block.side, node, x, other, weight, priors, n)
    if isinstance(certificate.oracle, Entropy):
        zero = np.zeros(1, dtype=np.intp)
        for place, value in certificate.oracle.multipliers:
            n = next(n for n, parts in enumerate(compiled.parts) if place in parts.limits)
            yield Multipliers("", zero, zero, zero, np.array([float(value)]), notion=n)


def _are_tight(
    terms: sp.csr_array, share: FloatArray, row: IntArray, output: IntArray, Q: FloatArray
) -> BoolArray:
    """Return for pairs of a row and an output whether the row is tight at the column.

    ``terms`` are ``e**-a left - right``, whose two parts are nearly equal where a row is tight.
    """
    tight = np.zeros(len(row), dtype=bool)
    for y in np.unique(output).tolist():
        here = np.flatnonzero(output == y)
        net, q = terms[row[here]], Q[:, y]
        tight[here] = net @ q >= -share[row[here]] * (abs(net) @ q) / 2
    return tight


def label_text(label: Label) -> str:
    """Return a label as in reports: text in quotes."""
    return repr(label) if isinstance(label, tuple) else shown(label)
