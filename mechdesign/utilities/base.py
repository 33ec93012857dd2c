"""The base class of utilities: losses to minimize and gains to maximize."""

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


class Utility(ABC):  # noqa: B024
    """A loss of a channel at a prior, to be minimized, or a gain, to be maximized.

    A subclass takes the keys of its ``[utility]`` table as constructor arguments.
    """

    name: ClassVar[str] = "custom"
    """Its name in problem files."""

    on_interval: str = ""
    """Its loss on an interval, if defined: the ``"absolute"`` or ``"squared"`` error of the
    released number, or of the best ``"estimate"`` from a report; or that of an unbiased
    ``"reading"``."""

    most_inputs: ClassVar[float] = math.inf
    """The largest number of inputs."""

    on_plane: bool = False
    """Whether it is a loss of released points of a box."""

    title: ClassVar[str] = ""
    """A short description for tables and templates."""

    sense: ClassVar[str] = "minimize"
    """``"minimize"`` for a loss, ``"maximize"`` for a gain."""

    exact: ClassVar[bool] = False
    """Whether the checker knows it, so that a saved file proves value and bound."""

    definition: ClassVar[str] = ""
    """The method that computes its value."""

    finite_on: ClassVar[str] = "a channel on which the objective is finite"
    """The condition on a channel for a finite value."""

    states_decoder: ClassVar[bool] = False
    """Whether a saved file contains its decoder, whose loss is the objective."""

    worst_case: bool = False
    """Whether it is the maximum over :attr:`worst_over` rather than a mean."""

    is_of_outputs: ClassVar[bool] = False
    """Whether it is a loss between the input and the label of the output."""

    treats_inputs_alike: bool = False
    """Whether the optimum is invariant under permutations of equally likely inputs, if they are
    allowed outputs."""

    worst_over: ClassVar[str] = "inputs"
    """The set over which the worst case is taken."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Mark a subclass with its own definition or name as unknown to the checker.

        Raises
        ------
        UnsupportedError
            If the checker knows the parent, and it is not a linear loss, which a file contains as a
            matrix: the other methods of the parent are valid for its own definition only.
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
        """Whether larger values are better."""
        return self.sense == "maximize"

    @property
    def linear_form(self) -> LinearUtility | None:
        """An equivalent loss that is linear in the channel; None if there is none.

        For a linear loss it is the loss itself. Any other is the loss of releasing the best guess
        of the input, which is as useful as the reports that it is based on.
        """
        return None

    @property
    def ceiling(self) -> Fraction:
        """The largest gain: with a :attr:`linear_form`, gain = ceiling - loss."""
        return Fraction(1)

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> Utility:
        """Return the utility with its labeled numbers in the order of domain and outputs."""
        return self

    def check_prior(self, prior: Prior) -> None:  # noqa: B027  (most accept any)
        """Raise :class:`InputError` unless the prior is allowed."""

    def reference(self, prior: Prior) -> Prior:
        """Return the prior of the decoder in a problem with this prior."""
        return prior

    def default_outputs(self, domain: Domain) -> tuple[Label, ...] | None:
        """Return the allowed outputs by default; None if the optimizer chooses them."""
        return None

    def words(self, domain: Domain, outputs: Sequence[Label] | None = None) -> Words:
        """Return the kernel's named objective."""
        found: Words = read(Words, self.aligned(domain, outputs).to_table(domain))
        return found

    def statement(
        self, domain: Domain, prior: Prior, outputs: Sequence[Label] | None = None
    ) -> Statement:
        """Return the kernel statement of the objective, without notions."""
        self.aligned(domain, outputs).check_prior(prior)
        words, points = self.words(domain, outputs), read(KernelDomain, domain.to_table())
        aim = words.form(replace(points.inputs(prior.probabilities), outputs=outputs))
        if aim is None:
            raise UnsupportedError("objective", "an objective that the kernel knows", self.name)
        return Statement(len(domain), (), (), aim, words.sign)

    def allowed_for(self, channel: Channel) -> tuple[Label, ...]:
        """Return the outputs of the loss for a given channel: by default those of the channel."""
        return channel.outputs

    def value(
        self, channel: Channel, prior: Prior, outputs: Sequence[Label] | None = None
    ) -> Fraction:
        """Return the objective at an exact channel, rounded to the worse side where irrational.

        A worst-case risk is the maximum over distributions for the estimator of ``prior``.

        Parameters
        ----------
        channel, prior
            The channel and the prior to evaluate.
        outputs
            The outputs of the loss, if the channel uses only a subset of them.

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
        """Return the estimate for each output; None if the objective has no estimate."""
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
        """Reject a channel on which the objective is infinite or undefined."""
        try:
            yield
        except CertificateError:
            given = f"one that makes {self.name} infinite"
            raise InputError("channel", self.finite_on, given) from None

    def _reference(self, prior: Prior) -> Prior:
        """Return the prior; for a worst case the uniform prior in place of one with zeros."""
        return Prior.uniform(len(prior)) if self.worst_case and prior.minimum <= 0 else prior

    def objective(
        self, Q: cp.Expression, domain: Domain, prior: Prior, outputs: Sequence[Label]
    ) -> cp.Expression:
        """Return the loss as a convex cvxpy expression of ``Q``, ``(n_inputs, n_outputs)``.

        Raises
        ------
        UnsupportedError
            If the loss is not convex in the channel, or has no cvxpy expression.
        """
        fault = f"{self.name} is not convex in the channel"
        raise UnsupportedError("objective", "a convex loss", self.name, fault=fault)

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the complete ``[utility]`` table, with numbers as exact text."""
        return {"objective": self.name}

    @classmethod
    def keys(cls) -> dict[str, bool]:
        """Return the keys of the ``[utility]`` table, each with whether it is required."""
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        open_ended = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        named = (p for p in parameters if p.kind not in open_ended)
        return {p.name: p.default is inspect.Parameter.empty for p in named}

    @property
    def heading(self) -> str:
        """The name of the utility in reports."""
        own = next(kind for kind in type(self).__mro__ if "name" in vars(kind)) is not Utility
        return self.name if own else type(self).__name__

    def __repr__(self) -> str:
        """Return the call that makes it, without arguments that are the defaults."""
        given = inspect.signature(type(self)).parameters.values()
        pairs = ((p, getattr(self, p.name, p.default)) for p in given)
        parts = [f"{p.name}={v!r}" for p, v in pairs if v is not p.default and not callable(v)]
        return f"{type(self).__name__}({', '.join(parts)})"


class MeanOrWorstCase(Utility):
    """A utility that is a mean, or if ``worst_case`` the maximum over :attr:`worst_over`."""

    needs_positive_prior: ClassVar[bool] = False
    """Whether a prior with zeros makes the mean infinite or the readings undefined."""

    def __init__(self, worst_case: bool = False) -> None:
        if not isinstance(worst_case, bool):
            raise InputError("worst_case", "true or false", shown(worst_case))
        self.worst_case = worst_case

    def check_prior(self, prior: Prior) -> None:
        """Reject a prior with zeros if the mean needs a positive one."""
        if self.needs_positive_prior and not self.worst_case and prior.minimum <= 0:
            fault = f"an input has probability 0, which the mean of {self.name} does not allow"
            hint = "leave that input out, or smooth the prior"
            raise InputError("prior", "probabilities > 0", "0", hint, fault)

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table."""
        return {"objective": self.name, "worst_case": self.worst_case}


class LinearUtility(MeanOrWorstCase):
    """Expected loss between X and the released Y, or if ``worst_case`` the largest over inputs.

    expected: Sum_x P_x Sum_y Q(y|x) D(x, y);   worst case: max_x Sum_y Q(y|x) D(x, y)
    """

    definition = "loss"
    is_of_outputs = True

    distance: ClassVar[str] = ""
    """The named distance that is the loss: on a lattice a function of the steps between two
    points."""

    is_listed: ClassVar[bool] = False
    """Whether it is a matrix, so that a file states each loss."""

    @property
    def linear_form(self) -> LinearUtility:
        """The loss itself."""
        return self

    @abstractmethod
    def loss(self, domain: Domain, outputs: Sequence[Label]) -> ExactTable:
        """Return the loss D(x, y), exact, of shape ``(n_inputs, n_outputs)``."""

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> LinearUtility:
        """Return the loss; a user's own as a matrix, for saved files."""
        if self.exact:
            return self
        allowed = self.default_outputs(domain) if outputs is None else outputs
        return Distortion(self.loss(domain, allowed), self.worst_case)._called(self)

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
        Whether to take the maximum over the inputs instead of the mean over the prior.

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
    is_listed = True

    def __init__(self, matrix: Any, worst_case: bool = False) -> None:
        super().__init__(worst_case)
        self.matrix: ExactTable | Callable[[Any, Any], Any] = (
            matrix
            if callable(matrix) and not isinstance(matrix, type)
            else ExactTable.of(matrix, "matrix")
        )
        self._own: LinearUtility | None = None

    def _called(self, own: LinearUtility | None) -> Distortion:
        """Return this loss, called by the name of a user's own that it states as a matrix."""
        self._own = own
        return self

    @property
    def heading(self) -> str:
        """The name of the loss in reports."""
        return self.name if self._own is None else self._own.heading

    def __repr__(self) -> str:
        worst = "worst_case=True" if self.worst_case else ""
        return f"{type(self).__name__}({worst})" if self._own is None else repr(self._own)

    def default_outputs(self, domain: Domain) -> tuple[Label, ...]:
        """Return the column labels; else the domain if the sizes agree, or numbers from 0."""
        if not isinstance(self.matrix, ExactTable):
            return domain.labels
        named, n_outputs = self.matrix.column_labels, self.matrix.shape[1]
        if named is not None and set(named) != set(domain.labels):
            return named
        return domain.labels if n_outputs == len(domain) else tuple(range(n_outputs))

    def loss(self, domain: Domain, outputs: Sequence[Label]) -> ExactTable:
        """Return the matrix, or raise an error if it does not match."""
        if isinstance(self.matrix, ExactTable):
            return self.matrix.aligned(domain.labels, outputs, "matrix")
        return ExactTable.of_function(self.matrix, domain.labels, tuple(outputs), "matrix")

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> Distortion:
        """Return the utility with its matrix in the order of domain and outputs."""
        table = self.loss(domain, outputs or domain.labels)
        return Distortion(table, self.worst_case)._called(self._own)

    def allowed_for(self, channel: Channel) -> tuple[Label, ...]:
        """Return the outputs of the columns of the matrix."""
        columns = self.default_outputs(channel.inputs)
        return columns if set(channel.outputs) <= set(columns) else channel.outputs

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table."""
        losses = self.loss(domain, self.default_outputs(domain))
        return {**super().to_table(domain), "matrix": losses.to_table()}
