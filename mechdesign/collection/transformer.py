"""A scikit-learn transformer that replaces categorical entries by private reports."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from mechdesign._typing import ObjectArray
from mechdesign.channel import Channel
from mechdesign.designs.design import design
from mechdesign.domain import Domain
from mechdesign.errors import InputError, UnsupportedError, shown
from mechdesign.estimation.estimate import estimate
from mechdesign.estimation.result import Estimate
from mechdesign.mechanisms import HadamardResponse, Mechanism
from mechdesign.notions import LDP
from mechdesign.problem import Problem
from mechdesign.reports import Reports
from mechdesign.sampling import Randomness, source_of, stream_of
from mechdesign.utilities import L2Risk

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_array, check_is_fitted, validate_data
except ImportError:
    raise UnsupportedError(
        "ChannelTransformer",
        "the package scikit-learn",
        "an installation without it",
        'pip install -e ".[sklearn]"',
    ) from None

MOST_DESIGNED = 24
"""Maximum number of categories for which a channel is designed."""

Maker = Callable[[Domain], Channel | Mechanism]
"""Returns a mechanism for the domain of a column."""


class ChannelTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace each entry of categorical columns by a private report.

    It can be used in scikit-learn pipelines and column transformers, and needs the extra
    ``sklearn``.

    Each column has its own channel and budget: by composition, a row of d columns is private at d
    times epsilon. Every call of ``transform`` draws new reports and spends the budget again.

    Parameters
    ----------
    mechanism
        A Channel or a Mechanism for all columns; or a function of the :class:`~mechdesign.Domain`
        of a column, such as ``lambda c: HadamardResponse(c, epsilon=1)`` or
        ``lambda c: design(Problem(c, LIP(1), HammingLoss(), prior=prior)).channel``.
    epsilon
        Instead of a mechanism, the LDP budget of each column in nats: the optimal channel for
        frequency estimation is designed, or for more than 24 categories Hadamard response is used.
    categories
        ``"auto"`` for the sorted values in ``fit``; or a list of categories for each column. **Give
        a list if the data are private**: categories read from the data reveal which values occur,
        a release that is not private. The same holds for a prior.
    unknown
        The treatment of missing values and of values that are not categories: ``"refuse"``, or
        ``"map:LABEL"`` to replace them by a category. Both are equally private.
    rng
        None for the cryptographic source of the operating system; a seed or a
        ``numpy.random.Generator`` for a simulation, which is not for release. A seed gives the same
        draws at every call.

    Attributes
    ----------
    categories_
        The categories of each column.
    mechanisms_
        The channel or mechanism of each column.
    simulated_
        Whether reports are drawn from a seed and must not be released.
    n_features_in_, feature_names_in_
        Number of fitted columns; their names, if all are text.

    Examples
    --------
    >>> answers = [["yes"], ["no"], ["no"], ["no"]] * 2500
    >>> private = ChannelTransformer(epsilon=2, categories=[["yes", "no"]], rng=1)
    >>> reports = private.fit_transform(answers)
    >>> reports.shape
    (10000, 1)
    >>> share = private.estimate(reports)[0]
    >>> bool(abs(share.values[0] - 0.25) < 4 * share.standard_errors[0])
    True
    """

    def __init__(
        self,
        mechanism: Channel | Mechanism | Maker | None = None,
        *,
        epsilon: Any = None,
        categories: Any = "auto",
        unknown: str = "refuse",
        rng: Randomness = None,
    ) -> None:
        self.mechanism = mechanism
        self.epsilon = epsilon
        self.categories = categories
        self.unknown = unknown
        self.rng = rng

    def fit(self, X: Any, y: Any = None) -> ChannelTransformer:
        """Determine the categories, unless they are given, and design the channels.

        Parameters
        ----------
        X
            ``(n_records, n_columns)``: an array, a DataFrame, a list of rows; or one column.
        y
            Not used.

        Raises
        ------
        InputError
            If a parameter is invalid, or a column has fewer than two categories.
        """
        columns = self._columns(X, "a table of rows and columns", reset=True)
        source_of(self.rng)
        if (self.mechanism is None) == (self.epsilon is None):
            given = "neither" if self.epsilon is None else "both"
            raise InputError("epsilon", "either a mechanism or epsilon", given)
        domains = self._domains(columns)
        designed = {domain: self._mechanism(domain) for domain in dict.fromkeys(domains)}
        self.mechanisms_ = [designed[domain] for domain in domains]
        for domain in designed:
            self._other(domain)
        self.categories_ = [np.array(m.inputs.labels, dtype=object) for m in self.mechanisms_]
        self.simulated_ = self.rng is not None
        return self

    def transform(self, X: Any) -> Any:
        """Draw a report for each entry.

        Returns
        -------
        array of shape ``(n_records, n_columns)``
            The reports: labels of outputs, or for some mechanisms tuples of categories. A DataFrame
            after ``set_output(transform="pandas")``.

        Raises
        ------
        InputError
            If an entry is unknown and the policy is to refuse, or the columns differ from those of
            the fit.
        """
        check_is_fitted(self)
        columns = self._columns(X, f"the {self.n_features_in_} columns of the fit", reset=False)
        stream = stream_of(self.rng)
        reports = np.empty((len(columns[0]), len(columns)), dtype=object)
        names = getattr(self, "feature_names_in_", range(len(columns)))
        for j, (column, mechanism) in enumerate(zip(columns, self.mechanisms_, strict=True)):
            records = self._known(column, mechanism.inputs, f"column {names[j]!r}")
            for n, label in enumerate(mechanism.privatize(records, stream).labels()):
                reports[n, j] = label  # one by one, since a label may be a tuple
        return reports

    def estimate(self, Xt: Any, **how: Any) -> list[Estimate]:
        """Estimate the frequencies of the categories from reports, one estimate for each column.

        Parameters
        ----------
        Xt
            The output of :meth:`transform`, or several outputs concatenated.
        how
            As for :func:`mechdesign.estimation.estimate`: ``method``, ``prior``, ``target``.

        Raises
        ------
        InputError
            If an entry is not a report of its column.
        """
        check_is_fitted(self)
        expected = f"reports in {self.n_features_in_} columns"
        columns = self._columns(Xt, expected, reset=None)
        if len(columns) != self.n_features_in_:
            raise InputError("X", expected, f"{len(columns)} columns")
        found = []
        for j, (column, mechanism) in enumerate(zip(columns, self.mechanisms_, strict=True)):
            data = mechanism.alphabet.encode(column, f"column {j}")
            reports = Reports(data, mechanism.alphabet, self.rng is not None)
            found.append(estimate(mechanism, reports, **how))
        return found

    def __sklearn_tags__(self) -> Any:
        """Return the scikit-learn tags: categorical input, nondeterministic output of any type."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        tags.non_deterministic = True
        return tags

    def _columns(self, X: Any, expected: str, *, reset: bool | None) -> list[list[Any]]:
        """Return the columns of a table as lists of plain values.

        With ``reset`` True the columns define the fit, with False they are compared with it, and
        with None they are not checked.
        """
        if isinstance(X, np.ma.MaskedArray):
            X = np.ma.filled(X.astype(object), None)
        if getattr(X, "ndim", None) == 1:
            X = X.to_frame() if hasattr(X, "to_frame") else X.reshape(-1, 1)
        elif isinstance(X, list | tuple) and not any(
            isinstance(row, list | tuple | np.ndarray) for row in X
        ):
            X = [[entry] for entry in X]
        options = {"dtype": object, "ensure_all_finite": False}
        try:
            if reset is None:
                table: ObjectArray = check_array(X, **options)
            else:
                table = validate_data(self, X, reset=reset, **options)
        except (TypeError, ValueError) as error:
            first, *_ = str(error).splitlines()  # the others quote entries
            raise InputError("X", expected, first) from None
        return [_plain(column) for column in table.T]

    def _domains(self, columns: list[list[Any]]) -> list[Domain]:
        """Return the domain of each column."""
        if isinstance(self.mechanism, Channel | Mechanism):
            return [self.mechanism.inputs] * len(columns)
        if isinstance(self.categories, str):
            if self.categories != "auto":
                raise InputError("categories", "'auto' or a list for each column", self.categories)
            domains = [Domain(_sorted_categories(column)) for column in columns]
        else:
            listed = list(self.categories)
            if len(listed) != len(columns):
                expected = f"{len(columns)} lists of categories, one for each column"
                raise InputError("categories", expected, len(listed))
            domains = [c if isinstance(c, Domain) else Domain(_plain(c)) for c in listed]
        for j, domain in enumerate(domains):
            if len(domain) < 2:
                raise InputError(f"categories[{j}]", "at least two categories", repr(domain))
        return domains

    def _mechanism(self, domain: Domain) -> Channel | Mechanism:
        """Return the given mechanism for a domain, or the optimal channel."""
        mechanism: Any = self.mechanism
        if mechanism is None:
            if len(domain) > MOST_DESIGNED:
                return HadamardResponse(domain, self.epsilon)
            return design(Problem(domain, LDP(self.epsilon), L2Risk())).channel
        if not isinstance(mechanism, Channel | Mechanism) and callable(mechanism):
            mechanism = mechanism(domain)
        if not isinstance(mechanism, Channel | Mechanism) or mechanism.inputs != domain:
            expected = "a Channel or a Mechanism on the categories, or a function to one"
            raise InputError("mechanism", expected, shown(mechanism))
        return mechanism

    def _other(self, domain: Domain) -> Any:
        """Return the label that replaces unknown values; None to refuse them."""
        policy, _, text = str(self.unknown).partition(":")
        if policy != "map" and self.unknown != "refuse":
            raise InputError("unknown", "'refuse' or 'map:LABEL'", shown(self.unknown))
        return domain.labels[domain.index_of_text(text, "unknown")] if policy == "map" else None

    def _known(self, column: list[Any], domain: Domain, name: str) -> list[Any]:
        """Return the entries with unknown values replaced according to the policy."""
        other = self._other(domain)
        if other is not None:
            known = set(domain.labels)
            return [v if isinstance(v, Hashable) and v in known else other for v in column]
        try:
            domain.codes(column, name)
        except InputError as error:
            hint = error.hint or 'unknown="map:LABEL" sends others as a category'
            raise InputError(error.key, error.expected, error.given, hint) from None
        return column


def _plain(values: Any) -> list[Any]:
    """Return values with NumPy scalars converted to Python objects."""
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return [v.item() if isinstance(v, np.generic) else v for v in listed]


def _sorted_categories(column: list[Any]) -> list[Any]:
    """Return the sorted distinct values of a column."""
    try:
        return sorted(set(column))
    except TypeError:
        expected = "values of one kind, all text or all numbers, and none missing"
        raise InputError("X", expected, "others", "give the categories") from None
