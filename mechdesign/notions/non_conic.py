"""Notions that are limits on the whole channel, which no cone of columns expresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np

from mechdesign.domain import Domain, Label
from mechdesign.errors import InfeasibleError, InputError, UnsupportedError, known_word, shown
from mechdesign.exact import Exact, as_fraction, short_text
from mechdesign.kernel.limits import Gauge
from mechdesign.notions.base import BudgetNotion, Notion, budget
from mechdesign.notions.channel_constraint import ChannelConstraint
from mechdesign.notions.metric import points_of
from mechdesign.prior import Prior
from mechdesign.tables import ExactTable


class WholeChannelNotion(Notion):
    """A notion that is a limit on the whole channel.

    Where the parameter named by :attr:`looseness` is 0, it is a cone of columns: then
    :attr:`is_conic` is true and :meth:`family` returns its rows; otherwise it has no rows.
    """

    allows_sensitive_attribute = False

    looseness: ClassVar[str] = ""
    """The parameter at whose value 0 the notion is a cone; empty if it never is."""

    summary: ClassVar[str] = ""
    """A description of its sum for reports."""

    @property
    def is_conic(self) -> bool:
        """Whether rows on columns define it."""
        return bool(self.looseness) and getattr(self, self.looseness) == 0

    def channel_constraint(
        self, domain: Domain, prior: Prior | None = None
    ) -> ChannelConstraint | None:
        """Return its limits; None if it is rows for any epsilon, or asks nothing."""
        unit = self.at(1) if self.has_epsilon else self
        epsilon = budget(getattr(self, "epsilon", 0)) if self.has_epsilon else None
        _, limits = unit._parts(domain, prior)
        return ChannelConstraint(self.name, len(domain), limits, epsilon) if limits else None

    def limit_name(self, _number: int, _labels: Sequence[Label]) -> str:
        """Return the name of a limit in reports."""
        return self.summary


class ApproximateNotion(WholeChannelNotion, BudgetNotion):
    """A notion on columns that may fail with a small probability ``delta``."""

    on_interval = "mixture"
    looseness = "delta"

    def __init__(self, epsilon: Exact, delta: Exact) -> None:
        super().__init__(epsilon)
        expected = "a number from 0 to 1"
        self.delta = as_fraction(delta, "delta", expected=expected, least=0, most=1)


class GuessNotion(WholeChannelNotion):
    """A limit on the gain of the best guess from the output; it has no epsilon.

        Sum_y max_w Sum_x g(w, x) P_x Q[x,y]  <=  limit

    The sum is convex in Q. It is smallest for a channel that ignores its input, max_w Sum_x g(w, x)
    P_x, so no channel satisfies a smaller limit.
    """

    needs_prior = True
    reach: ClassVar[str]
    """Error message for a limit below the gain without any output."""

    def check(self, domain: Domain, prior: Prior | None) -> None:
        """Reject a limit below the gain of the best guess without any output."""
        limit = cast(Gauge, self._parts(domain, prior)[1][0])
        blind = max(sum(part.values(), Fraction(0)) for part in limit.nets(weak=False))
        if blind > limit.limit:
            gain, most = (in_words(abs(v)) for v in (blind, limit.limit))
            raise InfeasibleError(f"{self.name}: {self.reach.format(gain, most)}")


def positive(value: Exact, key: str) -> Fraction:
    """Return an exact number above 0."""
    return as_fraction(value, key, expected="a number above 0", above=0)


def in_words(value: Fraction) -> str:
    """Return a number with few digits, for a message."""
    text = short_text(value)
    return text if len(text) <= 12 else f"{float(value):.6g}"


MOST_INPUTS = 512


class ApproximateLDP(ApproximateNotion):
    """Approximate LDP: Pr(Y in S|x) <= e**epsilon Pr(Y in S|x') + delta for all x, x' and S.

    The worst set S has the outputs with Q[x,y] > e**epsilon Q[x',y], so that the condition is

        Sum_y (Q[x,y] - e**epsilon Q[x',y])_+ <= delta    for every x != x'.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.
    delta
        From 0, which is LDP, to 1, which asks nothing.

    Notes
    -----
    Source: Dwork et al. 2006 (approximate differential privacy); the sum is the hockey-stick
    divergence of Barthe and Olmedo 2013.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> leaky = Channel.from_matrix([["7/8", 0, "1/8"], [0, "7/8", "1/8"]])
    >>> ApproximateLDP(1, delta=0.875).holds(leaky), ApproximateLDP(1, delta=0.874).holds(leaky)
    (True, False)
    """

    name = "approximate-ldp"
    title = "approximate local differential privacy"
    example = """
epsilon = 1.0               # nats; for all sets of outputs: odds up to e^epsilon,
delta = 0.05                # but for so much probability
"""

    def aligned(self, domain: Domain) -> ApproximateLDP:
        """Return the notion, after a check of the number of pairs of inputs."""
        if self.delta and len(domain) > MOST_INPUTS:
            most = f"at most {MOST_INPUTS} inputs for {self.name}, which compares all pairs"
            raise UnsupportedError("notion", most, len(domain))
        return self

    def limit_name(self, number: int, labels: Sequence[Label]) -> str:
        """Return the ordered pair of inputs of a limit."""
        x, other = divmod(number, len(labels) - 1)
        return f"{shown(labels[x])} against {shown(labels[other + (other >= x)])}"


class ApproximateLIP(ApproximateNotion):
    """Approximate LIP: LIP for all sets of outputs, up to a probability delta.

        e**-epsilon Pr(Y in S|x) - delta <= Pr(Y in S) <= e**epsilon Pr(Y in S|x) + delta

    for all x and S. With the worst S for each side, and lambda the output distribution:

        Sum_y (Q[x,y] - e**epsilon lambda_y)_+ <= e**epsilon delta,
        Sum_y (lambda_y - e**epsilon Q[x,y])_+ <= delta             for every x.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.
    delta
        From 0, which is LIP, to 1, which asks nothing.

    Notes
    -----
    Source: Jiang et al. 2021 (TIFS), Definition 2. An input of prior 0 is protected like any other.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> identity = Channel.from_matrix([[1, 0], [0, 1]])
    >>> half = Prior([0.5, 0.5])
    >>> [ApproximateLIP(0, delta).holds(identity, half) for delta in (0.5, 0.49)]
    [True, False]
    """

    name = "approximate-lip"
    title = "approximate local information privacy"
    example = """
epsilon = 1.0               # nats; for all sets of outputs: Pr(S|x)/Pr(S) within e^+-epsilon,
delta = 0.05                # but for so much probability
"""
    needs_prior = True

    def limit_name(self, number: int, labels: Sequence[Label]) -> str:
        """Return the side and the input of a limit: two for each input."""
        x, side = divmod(number, 2)
        return f"{'min' if side else 'max'}-lift of {shown(labels[x])}"


class MaximalLeakage(WholeChannelNotion, BudgetNotion):
    """Maximal leakage: Sum_y max_x Q[x,y] <= e**epsilon.

    For every function of X and every prior, observing Y multiplies the probability of a correct
    guess by at most e**epsilon.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.

    Notes
    -----
    Source: Issa, Wagner and Kamath 2020, Theorem 1; it is the min-entropy capacity of Alvim et
    al. 2012. An input of prior 0 counts like any other.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> round(MaximalLeakage(1).leakage(warner), 6)  # ln(3/4 + 3/4)
    0.405465
    """

    name = "maximal-leakage"
    title = "maximal leakage"
    on_interval = "mixture"
    example = """
epsilon = 0.5               # nats; the sum over outputs of the largest Q(y|x) is at most e^epsilon
"""
    looseness = "epsilon"
    summary = "sum of the largest probability of each output"


class MutualInformationLeakage(WholeChannelNotion, BudgetNotion):
    """I(X; Y) = Sum_x P_x Sum_y Q[x,y] ln(Q[x,y] / lambda_y) <= epsilon, lambda = P Q.

    The bound is on average: a rare input, or a rare output, may reveal everything. An input of
    prior 0 is not protected.

    Parameters
    ----------
    epsilon
        The budget in nats, >= 0.

    Notes
    -----
    Source: du Pin Calmon and Fawaz 2012; the best channel for an expected loss is the
    rate-distortion trade-off of Shannon 1959.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> erased = Channel.from_matrix([["1/2", 0, "1/2"], [0, "1/2", "1/2"]])
    >>> round(MutualInformationLeakage(1).leakage(erased, Prior([0.5, 0.5])), 6)  # half of ln 2
    0.346574
    """

    name = "mutual-information"
    title = "mutual information of input and output"
    on_interval = "mixture"
    example = """
epsilon = 0.25              # nats of information about X in Y, on average
"""
    needs_prior = True
    looseness = "epsilon"
    summary = "mutual information of X and Y"


class GVulnerabilityLeakage(GuessNotion):
    """Posterior g-vulnerability: Sum_y max_w Sum_x g(w, x) P_x Q[x,y] <= limit.

    An adversary who sees Y and knows P names the best guess w, and gains g(w, x) if the input is x;
    the expected gain is at most the limit. With the identity, the default, it is the probability of
    naming the input: a bound on re-identification. The bound is on average, not for each output:
    for that, add a notion on columns.

    Parameters
    ----------
    limit
        The largest expected gain, above 0. Without any output the gain is max_w Sum_x g(w, x) P_x,
        so no channel satisfies a smaller limit.
    gain_matrix
        ``(n_guesses, n_inputs)`` numbers g(w, x) >= 0; default the identity. A frame or a dict of
        dicts counts by label, rows for guesses and columns for inputs; lists count by position.

    Raises
    ------
    InputError
        If the limit or the matrix is invalid.

    Notes
    -----
    Source: Alvim et al. 2012, Definition 8. There is no epsilon: the leakage is the gain minus the
    limit, at most 0 when the channel is private. For the identity the gain is that of
    :class:`~mechdesign.BayesAccuracy`, here bounded above.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> even = Prior([0.5, 0.5])
    >>> [GVulnerabilityLeakage(limit).holds(warner, even) for limit in ("0.75", "0.74")]
    [True, False]
    >>> GVulnerabilityLeakage(0.8).leakage(warner, even)
    -0.05
    """

    name = "g-vulnerability"
    title = "posterior vulnerability, the gain of the best guess"
    example = """
limit = 0.6                 # the most that the best guess gains on average; no epsilon
# gain_matrix = [[1, 1, 0, 0], [0, 0, 1, 1]]   # of guesses, for each input; default: naming it
"""
    summary = "expected gain of the best guess"
    reach = "the best guess without any output gains {}, so that no channel keeps it to {}"

    def __init__(self, limit: Exact, gain_matrix: Any = None) -> None:
        self.limit = positive(limit, "limit")
        own = None if gain_matrix is None else ExactTable.of(gain_matrix, "gain_matrix")
        self.gain_matrix: ExactTable | None = own

    @property
    def heading(self) -> str:
        """The notion with its limit."""
        return f"{self.name} at most {in_words(self.limit)}"

    def aligned(self, domain: Domain) -> GVulnerabilityLeakage:
        """Return the notion with the columns of its matrix in the order of the domain."""
        if self.gain_matrix is None:
            return self
        table = self.gain_matrix.for_inputs(domain.labels, "gain_matrix")
        return GVulnerabilityLeakage(self.limit, table)


HAMMING = "hamming"
NAMES = (HAMMING, "absolute", "squared", "euclidean")


class AttackError(GuessNotion):
    """Expected error of the best attack: Sum_y min_z Sum_x P_x Q[x,y] d(x, z) >= least.

    An adversary who sees Y and knows P names the input z with the least expected error d(x, z),
    averaged over the posterior of x; the expected error is at least ``least``. The bound is on
    average, not for each output: for that, add a notion on columns.

    Parameters
    ----------
    least
        The least expected error, above 0. Without any output the best guess has error min_z Sum_x
        P_x d(x, z), so no channel satisfies a larger bound.
    distance
        ``"hamming"`` (the probability of a wrong guess), ``"absolute"``, ``"squared"`` or
        ``"euclidean"`` between inputs that are numbers or points; or ``(n_inputs, n_guesses)``
        numbers >= 0, by position or by label.

    Raises
    ------
    InputError
        If the numbers or the distance are invalid.

    Notes
    -----
    Source: Shokri et al. 2011 (quantifying location privacy). There is no epsilon: the leakage is
    ``least`` minus the expected error, at most 0 when the channel is private.

    Examples
    --------
    >>> from mechdesign.channel import Channel
    >>> from mechdesign.prior import Prior
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=[0, 10])
    >>> even = Prior([0.5, 0.5])
    >>> [AttackError(least, "absolute").holds(warner, even) for least in (2.5, 2.51)]
    [True, False]
    """

    name = "attack-error"
    title = "expected error of the best attack"
    example = """
least = 0.2                 # the least expected error of the best guess of the input from an output
distance = "absolute"       # or "hamming", "squared", "euclidean", or a matrix; no epsilon
"""
    summary = "expected error of the best attack"
    reach = "the best guess without any output errs by {}, so that no channel makes it {}"

    def __init__(self, least: Exact, distance: Any) -> None:
        self.least = positive(least, "least")
        self.distance: str | ExactTable
        if isinstance(distance, str):
            self.distance = known_word(distance, NAMES, "distance", also=", or a matrix")
        else:
            self.distance = ExactTable.of(distance, "distance")

    @property
    def heading(self) -> str:
        """The notion with its least error."""
        return f"{self.name} at least {in_words(self.least)}"

    def distances(self, domain: Domain) -> ExactTable:
        """Return d(x, z), ``(n_inputs, n_guesses)``.

        Raises
        ------
        InputError
            If the inputs have no coordinates for a named distance, the matrix does not match them,
            or all distances are 0.
        """
        labels, given = domain.labels, self.distance
        if isinstance(given, ExactTable):
            guesses: Iterable[Any] = given.column_labels or range(given.shape[1])
            found = given.aligned(labels, tuple(guesses), "distance", "guess")
        elif given == HAMMING:
            found = ExactTable(1 - np.eye(len(domain), dtype=np.int64), 1)
        else:
            points = points_of(domain, given)
            found = ExactTable.distances(points, points, given)
        if not found.numerators.any():
            raise InputError(
                "distance", "a nonzero distance", "only zeros", fault="all distances are 0"
            )
        return found

    def aligned(self, domain: Domain) -> AttackError:
        """Return the notion with its matrix in the order of the domain."""
        if isinstance(self.distance, str):
            self.distances(domain)
            return self
        return AttackError(self.least, self.distances(domain))
