"""The base class of utilities: what must stay useful, as a number to minimize."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from mechdesign._typing import FloatArray
from mechdesign.channel import Channel, as_channel
from mechdesign.domain import Domain, Label
from mechdesign.errors import CertificateError, InputError, UnsupportedError, shown
from mechdesign.kernel.names import Domain as KernelDomain, Utility as Words
from mechdesign.kernel.schema import read
from mechdesign.kernel.statement import Statement
from mechdesign.kernel.value import decoder, value
from mechdesign.prior import Prior, prior_on
from mechdesign.tables import ExactTable

if TYPE_CHECKING:
    import cvxpy as cp

__all__ = ["Distortion", "LinearUtility", "MeanOrWorstCase", "Utility"]

CUSTOM = "custom"
"""The name of a utility of the user's own that has none."""


class Utility(ABC):  # noqa: B024
    """A loss of a channel at a prior, to be minimized, or a gain, to be maximized.

    A subclass takes the keys of its ``[utility]`` table as constructor arguments.
    """

    name: ClassVar[str] = CUSTOM
    """The word for it in problem files."""

    on_interval: str = ""
    """Its loss on an interval, if it has a meaning there: the ``"absolute"`` or
    ``"squared"`` error of the released number, or of the best ``"estimate"`` from a report; or that
    of a ``"reading"`` without bias."""

    most_inputs: ClassVar[float] = math.inf
    """How many inputs it takes at most."""

    on_plane: bool = False
    """Whether it is a loss of released points of a box."""

    title: ClassVar[str] = ""
    """A few words for tables and templates."""

    sense: ClassVar[str] = "minimize"
    """``"minimize"`` for a loss, ``"maximize"`` for a gain."""

    exact: ClassVar[bool] = False
    """Whether the checker knows it, so that a saved file proves value and bound."""

    definition: ClassVar[str] = ""
    """The method that computes its value."""

    finite_on: ClassVar[str] = "a channel on which the objective is finite"
    """The condition on a channel for a finite value."""

    states_decoder: ClassVar[bool] = False
    """Whether a saved file states its decoder exactly, as the loss is that of this decoder."""

    worst_case: bool = False
    """Whether it is the largest over :attr:`worst_over` in place of a mean."""

    is_of_outputs: ClassVar[bool] = False
    """Whether it is a loss between the input and the label of the output."""

    worst_over: ClassVar[str] = "inputs"
    """The set that a worst case is over."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Mark a subclass with a definition or a name of its own as unknown to the checker.

        Raises
        ------
        UnsupportedError
            If the parent is known to the checker and is not a linear loss, which a file states as a
            matrix: the other methods of the parent are written for its own definition.
        """
        known, own = cls.exact, vars(cls)
        super().__init_subclass__(**options)
        key = next((key for key in (cls.definition, "name") if key in own), None)
        if key is None or "exact" in own:
            return
        cls.exact = False
        if known and not cls.is_of_outputs:
            expected = "LinearUtility, ColumnUtility or ConvexUtility as the parent of a class"
            raise UnsupportedError(
                key, f"{expected} with a {key} of its own", cls.__mro__[1].__name__
            )

    @property
    def is_maximized(self) -> bool:
        """Whether more is better."""
        return self.sense == "maximize"

    @property
    def linear_form(self) -> LinearUtility | None:
        """A loss that is linear in the channel and as good to optimize; None if there is none.

        For a linear loss it is the loss itself. Any other stands for a release of the best guess
        of the input, as good as the reports that the guess is made from.
        """
        return None

    @property
    def ceiling(self) -> Fraction:
        """The largest gain: with a :attr:`linear_form`, gain = ceiling - loss."""
        return Fraction(1)

    def treats_inputs_alike(self, domain: Domain, outputs: Sequence[Label] | None) -> bool:
        """Return whether no permutation of the inputs, all equally likely, changes the optimum."""
        return False

    def scalar_values(self, domain: Domain) -> tuple[Fraction, ...] | None:
        """Return f(x) where this is the squared error of the best estimate of f(X); else None."""
        return None

    def check(self, domain: Domain, outputs: Sequence[Label] | None) -> None:  # noqa: B027
        """Raise :class:`InputError` unless the parameters fit the domain and the outputs."""

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> Utility:
        """Return the utility with numbers that carry labels in the order of domain and outputs.

        Raises
        ------
        InputError
            If the labels are not those of the domain or of the outputs.
        """
        return self

    def check_prior(self, prior: Prior) -> None:  # noqa: B027  (most accept any)
        """Raise :class:`InputError` unless the prior will do."""

    def reference(self, prior: Prior) -> Prior:
        """Return the prior that a decoder is made for, where a problem has this one."""
        return prior

    def default_outputs(self, domain: Domain) -> tuple[Label, ...] | None:
        """Return the outputs allowed where the user names none; None: the optimizer's choice."""
        return None

    def words(self, domain: Domain, outputs: Sequence[Label] | None = None) -> Words:
        """Return the objective as the kernel knows it by its name."""
        found: Words = read(Words, self.aligned(domain, outputs).to_table(domain))
        return found

    def statement(
        self, domain: Domain, prior: Prior, outputs: Sequence[Label] | None = None
    ) -> Statement:
        """Return the objective as the kernel states it, without notions.

        Raises
        ------
        UnsupportedError
            If the kernel does not know it.
        """
        self.check_prior(prior)
        words, points = self.words(domain, outputs), read(KernelDomain, domain.to_table())
        aim = words.form(replace(points.inputs(prior.probabilities), outputs=outputs))
        if aim is None:
            raise UnsupportedError("objective", "an objective that the kernel knows", self.name)
        return Statement(len(domain), (), (), aim, words.sign)

    def allowed_for(self, channel: Channel) -> tuple[Label, ...]:
        """Return the outputs that a loss speaks of when only a channel is given: its own."""
        return channel.outputs

    def value(
        self, channel: Channel, prior: Prior, outputs: Sequence[Label] | None = None
    ) -> Fraction:
        """Return the objective at an exact channel, rounded to the worse side where irrational.

        That of a worst-case risk is the largest at any distribution of the estimator for ``prior``.

        Parameters
        ----------
        channel, prior
            What to judge.
        outputs
            The outputs that the loss speaks of, if the channel uses only some of them.

        Raises
        ------
        InputError
            If it is infinite.
        """
        prior = self._reference(prior_on(prior, as_channel(channel).inputs))
        allowed = self.allowed_for(channel) if outputs is None else tuple(outputs)
        statement = self.statement(channel.inputs, prior, allowed)
        readings = self.decoder(channel, prior) if self.states_decoder else None
        used = [allowed.index(label) for label in channel.outputs] if self.is_of_outputs else ()
        with self._finite():
            whole, reference = 1 << channel.bits, prior.probabilities
            found = value(statement, channel.columns(), whole, used, readings, reference)
        return statement.sign * found

    def decoder(self, channel: Channel, prior: Prior) -> tuple[Any, ...] | None:
        """Return what is estimated from each output; None where there is no such thing."""
        inputs = as_channel(channel).inputs
        reads = self.words(inputs).reads if self.exact and not self.is_of_outputs else ""
        if not reads:
            return None
        prior = self._reference(prior_on(prior, inputs))
        statement, columns, whole = self.statement(inputs, prior), channel.columns(), channel.bits
        with self._finite():
            reference = prior.probabilities
            found = decoder(statement, reads, inputs.labels, columns, 1 << whole, None, reference)
        return tuple(tuple(v) if isinstance(v, list) else v for v in found or ()) or None

    @contextmanager
    def _finite(self) -> Iterator[None]:
        """Refuse a channel on which the objective is infinite, or not defined."""
        try:
            yield
        except CertificateError:
            given = f"one that makes {self.name} infinite"
            raise InputError("channel", self.finite_on, given) from None

    def _reference(self, prior: Prior) -> Prior:
        """Return the prior; the uniform one in place of one with zeros, for a worst case."""
        return Prior.uniform(len(prior)) if self.worst_case and prior.minimum <= 0 else prior

    def objective(
        self, Q: cp.Expression, domain: Domain, prior: Prior, outputs: Sequence[Label]
    ) -> cp.Expression:
        """Return the loss as a convex cvxpy expression of ``Q``, ``(n_inputs, n_outputs)``.

        Raises
        ------
        UnsupportedError
            If the loss is not convex in the channel, as any is that does not state itself.
        """
        fault = f"{self.name} is not convex in the channel"
        raise UnsupportedError("objective", "a convex loss", self.name, fault=fault)

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table, complete and with numbers as exact text."""
        return {"objective": self.name}

    @classmethod
    def keys(cls) -> dict[str, bool]:
        """Return the keys of the ``[utility]`` table, each with whether it must be there."""
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        open_ended = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        named = (p for p in parameters if p.kind not in open_ended)
        return {p.name: p.default is inspect.Parameter.empty for p in named}

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class MeanOrWorstCase(Utility):
    """A utility that is a mean, or the largest over :attr:`worst_over`.

    Parameters
    ----------
    worst_case
        Whether it is the largest.
    """

    needs_positive_prior: ClassVar[bool] = False
    """Whether the mean is infinite, or no reading known, where an input has probability 0."""

    def __init__(self, worst_case: bool = False) -> None:
        if not isinstance(worst_case, bool):
            raise InputError("worst_case", "true or false", shown(worst_case))
        self.worst_case = worst_case

    def check_prior(self, prior: Prior) -> None:
        """Ask for a prior without zeros, where a mean needs one."""
        if self.needs_positive_prior and not self.worst_case and prior.minimum <= 0:
            fault = f"an input has probability 0, which the mean of {self.name} does not allow"
            hint = "leave that input out, or smooth the prior"
            raise InputError("prior", "probabilities > 0", "0", hint, fault)

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table."""
        return {"objective": self.name, "worst_case": self.worst_case}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'worst_case=True' if self.worst_case else ''})"


class LinearUtility(MeanOrWorstCase):
    """Expected or worst-case loss between X and the released Y.

    expected: Sum_x P_x Sum_y Q(y|x) D(x, y);   worst case: max_x Sum_y Q(y|x) D(x, y)

    Parameters
    ----------
    worst_case
        Whether to take the largest over the inputs instead of the mean over the prior.
    """

    definition = "loss"
    is_of_outputs = True

    distance: ClassVar[str] = ""
    """The distance that the loss is: on a lattice a function of the steps between two points."""

    @property
    def linear_form(self) -> LinearUtility:
        """The loss itself."""
        return self

    @abstractmethod
    def loss(self, domain: Domain, outputs: Sequence[Label]) -> ExactTable:
        """Return the loss D(x, y), exact, of shape ``(n_inputs, n_outputs)``."""

    def check(self, domain: Domain, outputs: Sequence[Label] | None) -> None:
        """Compile the loss and throw it away."""
        allowed = self.default_outputs(domain) if outputs is None else outputs
        self.loss(domain, allowed or ())

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> LinearUtility:
        """Return the loss; one of the user's own as a matrix, which a file can carry."""
        if self.exact:
            return self
        allowed = self.default_outputs(domain) if outputs is None else outputs
        return Distortion(self.loss(domain, allowed), self.worst_case)

    def default_outputs(self, domain: Domain) -> tuple[Label, ...]:
        """Return the domain."""
        return domain.labels

    def cost(self, domain: Domain, prior: Prior, outputs: Sequence[Label]) -> FloatArray:
        """Return P_x D(x, y), shape ``(n_inputs, n_outputs)``; D(x, y) for the worst case."""
        loss = self.loss(domain, outputs).array
        return loss if self.worst_case else prior.array[:, None] * loss

    def objective(
        self, Q: cp.Expression, domain: Domain, prior: Prior, outputs: Sequence[Label]
    ) -> cp.Expression:
        """Return the sum, or the maximum over rows, of ``cost * Q``."""
        import cvxpy as cp

        weighted = cp.multiply(self.cost(domain, prior, outputs), Q)
        return cp.max(cp.sum(weighted, axis=1)) if self.worst_case else cp.sum(weighted)


class Distortion(LinearUtility):
    """E D(X, Y) for any loss D.

    Parameters
    ----------
    matrix
        ``(n_inputs, n_outputs)`` numbers >= 0: the loss of output y at input x. A DataFrame or a
        dict of dicts counts by label, rows for inputs and columns for outputs; lists count by
        position. Or a function of an input label and an output label that returns such a number.
    worst_case
        Whether to take the largest over the inputs instead of the mean over the prior.

    Examples
    --------
    >>> from mechdesign.domain import Domain
    >>> Distortion([[0, 1, 0.4], [5, 0, 0.4]]).default_outputs(Domain(["a", "b"]))
    (0, 1, 2)
    >>> Distortion(lambda x, y: abs(x - y)).loss(Domain([0, 2]), (0, 1, 2)).array
    array([[0., 1., 2.],
           [2., 1., 0.]])
    """

    name = "distortion"
    title = "expected loss by a matrix of your own"
    exact = True

    def __init__(self, matrix: Any, worst_case: bool = False) -> None:
        super().__init__(worst_case)
        self.matrix: ExactTable | Callable[[Any, Any], Any] = (
            matrix
            if callable(matrix) and not isinstance(matrix, type)
            else ExactTable.of(matrix, "matrix")
        )

    def default_outputs(self, domain: Domain) -> tuple[Label, ...]:
        """Return the columns by label; else the domain if there are as many, or numbers from 0."""
        if not isinstance(self.matrix, ExactTable):
            return domain.labels
        named, n_outputs = self.matrix.column_labels, self.matrix.shape[1]
        if named is not None and set(named) != set(domain.labels):
            return named
        return domain.labels if n_outputs == len(domain) else tuple(range(n_outputs))

    def loss(self, domain: Domain, outputs: Sequence[Label]) -> ExactTable:
        """Return the matrix, or raise an error where it does not fit."""
        if isinstance(self.matrix, ExactTable):
            return self.matrix.aligned(domain.labels, outputs, "matrix")
        return ExactTable.of_function(self.matrix, domain.labels, tuple(outputs), "matrix")

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> Distortion:
        """Return the utility with its losses written out in the order of domain and outputs."""
        return Distortion(self.loss(domain, outputs or domain.labels), self.worst_case)

    def allowed_for(self, channel: Channel) -> tuple[Label, ...]:
        """Return the outputs that the columns of the matrix stand for."""
        columns = self.default_outputs(channel.inputs)
        return columns if set(channel.outputs) <= set(columns) else channel.outputs

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table."""
        losses = self.loss(domain, self.default_outputs(domain))
        return {**super().to_table(domain), "matrix": losses.to_table()}
