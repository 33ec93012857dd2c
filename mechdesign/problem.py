"""The problem: a domain, a prior, one or more privacy notions, and a utility."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mechdesign.domain import Domain, DomainLike, Label, plain_label
from mechdesign.errors import (
    InfeasibleError,
    InputError,
    UnsupportedError,
    inside,
    listed,
    shown,
    shown_kind,
)
from mechdesign.kernel.names import Compiled, ProblemTable, compile_problem
from mechdesign.kernel.schema import read
from mechdesign.labels import clean_labels
from mechdesign.notions import Cone, MetricPrivacy, Notion
from mechdesign.prior import Prior, prior_on
from mechdesign.program import program_latex
from mechdesign.solver_guard import called
from mechdesign.text import html_lines, shortened
from mechdesign.utilities import (
    Divergence,
    EstimationRisk,
    LinearUtility,
    ReadingVariance,
    Utility,
)

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["Expected", "Problem"]

MOST_INPUTS = 4096

POSSIBLE = 1e-6
"""A linear program with an optimum above this has found a column, within its tolerance."""

N = TypeVar("N", bound=Notion)


@dataclass(frozen=True)
class Expected:
    """The known optimal value.

    Attributes
    ----------
    value
        The optimal value.
    rtol
        The relative tolerance of a comparison with it.
    """

    value: float
    rtol: float = 1e-6


class Problem:
    """A design problem: a privacy requirement and a utility.

    Parameters
    ----------
    domain
        The inputs, their labels, or how many there are.
    privacy
        A notion, or several: their intersection.
    utility
        The loss to minimize, or the gain to maximize.
    prior
        The distribution of the input; default uniform, unless a notion depends on the prior. A dict
        or a pandas Series counts by label, a list by position.
    outputs
        Labels of the allowed outputs; default the domain for distortions, else chosen by the
        optimizer.
    title, source
        Free text.
    expected
        The known optimum, to compare with.

    Raises
    ------
    InputError
        If the parts do not fit each other.
    InfeasibleError
        If no channel satisfies a notion.

    Examples
    --------
    >>> from mechdesign.notions import LDP
    >>> from mechdesign.utilities import HammingLoss
    >>> Problem(["a", "b", "c"], LDP(1), HammingLoss())
    Problem(3 inputs, LDP(epsilon=1), HammingLoss())
    """

    def __init__(
        self,
        domain: DomainLike,
        privacy: Notion | Sequence[Notion],
        utility: Utility,
        *,
        prior: Prior | Iterable[Any] | Mapping[Any, Any] | None = None,
        outputs: Iterable[Any] | None = None,
        title: str = "",
        source: str = "",
        expected: Expected | None = None,
    ) -> None:
        self.domain = Domain.of(domain)
        self.privacy = notions_of(privacy)
        self.utility = utility_of(utility, "HammingLoss()")
        self.title, self.source, self.expected = title, source, expected
        self.prior_given = prior is not None
        self.prior = self._fitting_prior(prior)
        self.outputs = self._allowed_outputs(outputs)
        if not (self.is_written_out or self.suits_noise):
            raise self._too_large()
        self._align()
        if self.is_written_out:
            self._cone = self._compile()
            self._check_classes()
            self._check_finite()
        self.channel_constraints = tuple(
            None if notion.is_conic else notion.channel_constraint(self.domain, self.prior)
            for notion in self.privacy
        )
        """The constraint of each notion on the whole channel; None for notions on columns."""
        self.non_conic = tuple(
            notion.name
            for notion, rule in zip(self.privacy, self.channel_constraints, strict=True)
            if rule is not None and rule.binds()
        )
        """The constraints on the whole channel that some channel violates."""
        self.quoted: tuple[str, ...] = ()
        """The user's own constraints as text, as in a saved file."""

    def _fitting_prior(self, prior: Any) -> Prior:
        if prior is None:
            needy = [notion.name for notion in self.privacy if notion.needs_prior]
            if needy:
                fault = f"{needy[0]} is defined by a prior, and none is given"
                raise InputError("prior", "a prior", "none", fault=fault)
            return Prior.uniform(len(self.domain))
        return prior_on(prior, self.domain)

    def _allowed_outputs(self, outputs: Iterable[Any] | None) -> tuple[Label, ...] | None:
        if outputs is None:
            return self.utility.default_outputs(self.domain)
        labels = clean_labels(outputs, "outputs.values")
        if not labels:
            raise InputError("outputs.values", "at least one label", "an empty list")
        return labels

    def _align(self) -> None:
        """Put all labeled numbers in the order of the domain and the outputs."""
        with inside("utility", apart="outputs"):
            self.utility = self.utility.aligned(self.domain, self.outputs)
        if len(self.domain) > self.utility.most_inputs:  # exact readings are ratios of determinants
            most = f"at most {self.utility.most_inputs} inputs for {self.utility.name}"
            raise UnsupportedError("domain", most, len(self.domain))
        self.utility.check_prior(self.prior)
        aligned = []
        for n, notion in enumerate(self.privacy):
            with inside(self._place(n), apart="outputs"):
                aligned.append(notion.aligned(self.domain))
        self.privacy = tuple(aligned)

    @property
    def is_written_out(self) -> bool:
        """Whether there are few enough inputs for a matrix; otherwise only noise is supported."""
        return len(self.domain) <= MOST_INPUTS

    @property
    def suits_noise(self) -> bool:
        """Whether noise that depends on lattice steps only can be private with an expected loss.

        This holds for metric privacy by a named distance, on a grid or equally spaced numbers, with
        a loss by a named distance, if the outputs are the inputs.
        """
        notion, utility = self.sole_notion(MetricPrivacy), self.utility
        if notion is None or not isinstance(notion.distance, str):
            return False
        if not isinstance(utility, LinearUtility) or utility.worst_case:
            return False
        if not (utility.distance and utility.exact):  # of a class of one's own it may be another
            return False
        return self.outputs == self.domain.labels and self.domain.lattice is not None

    @property
    def cone(self) -> Cone:
        """The cone of allowed columns: one family of rows for each notion, in order.

        Raises
        ------
        UnsupportedError
            If there are too many inputs for a matrix.
        """
        if not self.is_written_out:
            raise self._too_large()
        return self._cone

    def _too_large(self) -> UnsupportedError:
        most = f"at most {MOST_INPUTS} inputs for a channel that is written out"
        return UnsupportedError("domain", most, len(self.domain))

    def _compile(self) -> Cone:
        families = []
        for n, notion in enumerate(self.privacy):
            with inside(self._place(n), apart="outputs"):
                families.append(notion.family(self.domain, self.prior))
        return Cone(families)

    def _place(self, n: int) -> str:
        """Return the key of a notion in a problem file."""
        return f"privacy[{n}]" if len(self.privacy) > 1 else "privacy"

    @cached_property
    def Q(self) -> cp.Variable:  # noqa: N802
        """The channel as a cvxpy variable, ``(n_inputs, n_outputs)``, for your own constraints.

        Raises
        ------
        InputError
            If the outputs are not known in advance.
        """
        import cvxpy as cp

        if self.outputs is None:
            fault = f"{self.utility.name} leaves them to the optimizer; state them as outputs=[...]"
            raise InputError("outputs", "the allowed outputs", "none", fault=fault)
        return cp.Variable((len(self.domain), len(self.outputs)), nonneg=True, name="Q")

    @property
    def output_distribution(self) -> cp.Expression:
        """The law of the output as a cvxpy expression of :attr:`Q`, ``(n_outputs,)``."""
        return self.prior.array @ self.Q

    @property
    def is_conic(self) -> bool:
        """Whether the channel is private exactly when every column lies in the cone."""
        return not self.non_conic

    def _check_classes(self) -> None:
        utility = self.utility
        if isinstance(utility, EstimationRisk):
            marks, aim = self.domain.labels, "the distribution be estimated"
        elif isinstance(utility, ReadingVariance):
            marks, aim = utility.values(self.domain), "f(X) be read without bias"
        else:
            return
        classes = self.cone.equal_classes().tolist()
        for x, c in enumerate(classes):
            first = classes.index(c)
            if marks[first] != marks[x]:
                one, other = (shown(self.domain.labels[i]) for i in (first, x))
                raise InfeasibleError(
                    f"{utility.name}: the notions make the rows of {one} and {other} equal, "
                    f"so that no private channel lets {aim}"
                )
        if isinstance(utility, EstimationRisk) and self.cone.flat_basis() is not None:
            raise InfeasibleError(
                f"{utility.name}: a budget of 0 makes the rows of every private channel "
                f"dependent, so that none lets {aim}"
            )

    def _check_finite(self) -> None:
        """Reject a gain that is infinite at some private column.

        The columns that are 0 on one set of inputs form a cone; a linear program over it maximizes
        the entries on the other set, with entries at most 1.
        """
        utility = self.utility
        if not (isinstance(utility, Divergence) and utility.may_be_infinite):
            return
        first, needed = (np.array(side, dtype=bool) for side in utility.weights(self.domain))
        freed = first & ~needed
        if not freed.any():
            return
        from scipy import optimize

        solve: Any = optimize.linprog
        rows = self.cone.matrix().tocsc()[:, np.flatnonzero(~needed)].tocsr()
        size = abs(rows).max(axis=1).toarray().ravel()  # a tolerance is relative to the largest
        rows = rows[size > 0].multiply(1 / size[size > 0][:, None]).tocsr()
        left = freed[~needed]
        found = called(
            "HiGHS",
            solve,
            -left.astype(float),
            rows,
            np.zeros(rows.shape[0]),
            bounds=(0, 1),
        )
        if found.x is None or float(left @ found.x) > POSSIBLE:
            one = shown(self.domain.labels[int(np.argmax(freed))])
            expected = "a finite objective"
            fault = (
                f"{self.utility.name} is infinite: the notions allow a report that reveals {one}"
            )
            raise InputError("utility.objective", expected, "infinity", fault=fault)

    def sole_notion(self, kind: type[N]) -> N | None:
        """Return the only notion of the problem if it is of this class.

        A user's subclass may state other rows and does not count.
        """
        notion = self.privacy[0]
        if len(self.privacy) > 1 or notion.states_generators:
            return None
        return notion if isinstance(notion, kind) else None

    @property
    def expected_loss(self) -> LinearUtility | None:
        """The utility if it is an expected loss between X and Y; else None."""
        utility = self.utility
        return utility if isinstance(utility, LinearUtility) and not utility.worst_case else None

    @property
    def guesses(self) -> tuple[Label, ...]:
        """The outputs of the linear form of the utility: the allowed outputs, or the guesses."""
        form = self.utility.linear_form
        if form is None or form is self.utility:
            return self.outputs or self.domain.labels
        return form.default_outputs(self.domain) or self.domain.labels

    def at(self, epsilon: Any, prior: Prior | None = None) -> Problem:
        """Return the problem with another budget, and optionally another prior.

        Parameters
        ----------
        epsilon
            In nats.
        prior
            Replaces the prior of the problem.

        Raises
        ------
        InputError
            If epsilon is not a budget, or the number of notions with an epsilon is not one.

        Examples
        --------
        >>> from mechdesign import LDP, HammingLoss
        >>> Problem(range(3), LDP(1), HammingLoss()).at("0.5").privacy
        (LDP(epsilon=0.5),)
        """
        if prior is None and self.prior_given:
            prior = self.prior
        return Problem(
            self.domain,
            notions_at(self.privacy, epsilon),
            self.utility,
            prior=prior,
            outputs=self.outputs,
            title=self.title,
            source=self.source,
        )

    @cached_property
    def table(self) -> ProblemTable:
        """The table of a saved file, as the kernel reads it."""
        table: ProblemTable = read(ProblemTable, self.to_table())
        return table

    @cached_property
    def compiled(self) -> Compiled:
        """The statement in the kernel: generators, limits and an objective."""
        return compile_problem(self.table)

    def __getstate__(self) -> dict[str, Any]:
        """Drop the cached statement."""
        cached = ("table", "compiled")
        return {key: value for key, value in vars(self).items() if key not in cached}

    def to_table(self) -> dict[str, Any]:
        """Return the table of a saved file: all that the checker needs, exact."""
        outputs = self.outputs
        own = {"constraints": list(self.quoted)} if self.quoted else {}
        return {
            "domain": self.domain.to_table(),
            "prior": self.prior.to_table(),
            "privacy": [n.stated_table(self.domain, self.prior) for n in self.privacy],
            "utility": self.utility.to_table(self.domain),
            "outputs": outputs if outputs is None else [plain_label(y) for y in outputs],
            **own,
        }

    def to_latex(self) -> str:
        r"""Return the program that :func:`~mechdesign.design` solves, as LaTeX for display math.

        q_y is the column of a report y, with the entries Q(y|x), and P the prior.

        Examples
        --------
        >>> from mechdesign import LDP, HammingLoss
        >>> print(Problem(["yes", "no"], LDP(1), HammingLoss()).to_latex())
        \begin{aligned}
        \operatorname{minimize}_Q\quad & \textstyle\sum_{x, y} 0.5\, D(x, y)\, Q(y|x) \\
        \text{subject to}\quad & Q(y|x) \le e^{1} Q(y|x') \quad \text{for all } x, x', y \\
        & \textstyle\sum_y Q(y|x) = 1, \quad Q(y|x) \ge 0
        \end{aligned}
        """
        return program_latex(self.compiled.statement)

    def _repr_html_(self) -> str:
        lines = [(notion.title or notion.name, repr(notion)) for notion in self.privacy]
        lines.append(("prior", repr(self.prior) if self.prior_given else "none given"))
        outputs = "chosen by the optimizer" if self.outputs is None else str(list(self.outputs))
        lines += [("utility", repr(self.utility)), ("outputs", shortened(outputs, 200))]
        title = [("problem", self.title)] if self.title else []
        return html_lines([*title, ("inputs", repr(self.domain)), *lines])

    def __repr__(self) -> str:
        notions = " and ".join(repr(notion) for notion in self.privacy)
        size = f"{len(self.domain)} input{'s' * (len(self.domain) > 1)}"
        return f"Problem({size}, {notions}, {self.utility!r})"


def notions_at(privacy: tuple[Notion, ...], epsilon: Any) -> tuple[Notion, ...]:
    """Return the notions of a problem with another budget."""
    count = sum(notion.has_epsilon for notion in privacy)
    if count != 1:
        names = ", ".join(notion.name for notion in privacy)
        hint = "" if count else "design a problem for each of its budgets"
        raise InputError("privacy", "exactly one notion with an epsilon", names, hint)
    return tuple(notion.at(epsilon) if notion.has_epsilon else notion for notion in privacy)


def notions_of(privacy: Any) -> tuple[Notion, ...]:
    """Return one notion, or several, as a tuple."""
    expected = "a notion, such as LDP(1), or a list of them"
    is_one = isinstance(privacy, Notion | type)
    notions = [privacy] if is_one else listed(privacy, "privacy", expected)
    for n, notion in enumerate(notions):
        if not isinstance(notion, Notion):
            key = "privacy" if is_one else f"privacy[{n}]"
            raise InputError(key, expected, shown_kind(notion), _what_makes_one(notion))
    if not notions:
        raise InputError("privacy", "a notion", "none", fault="the list of notions is empty")
    return tuple(notions)


def utility_of(given: Any, example: str) -> Utility:
    """Return a utility unchanged, or raise InputError, which shows the example."""
    if not isinstance(given, Utility):
        expected = f"a utility, such as {example}"
        raise InputError("utility", expected, shown_kind(given), _what_makes_one(given))
    return given


def _what_makes_one(given: Any) -> str:
    """Return a hint if a class is given instead of an object."""
    return f"{given.__name__}(...) makes one" if isinstance(given, type) else ""
