"""A transformer for categorical columns, as scikit-learn has them, that sends private reports."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from mechdesign.channel import Channel
from mechdesign.collection.tabular import columns_of, plain, sorted_values
from mechdesign.designs.facade import design
from mechdesign.domain import Domain
from mechdesign.errors import InputError, did_you_mean, shown
from mechdesign.estimation.estimate import estimate
from mechdesign.estimation.result import Estimate
from mechdesign.mechanisms import HadamardResponse, Mechanism
from mechdesign.notions import LDP, Notion
from mechdesign.prior import Prior
from mechdesign.problem import Problem
from mechdesign.reports import Reports
from mechdesign.sampling import Randomness, source_of
from mechdesign.utilities import L2Risk, Utility

__all__ = ["ChannelTransformer"]

MOST_DESIGNED = 24
"""Categories up to which a channel is designed where neither notion nor utility is given."""

UNKNOWN = ("refuse", "map")

OUTPUTS = ("default", "pandas")

Source = Channel | Mechanism
Maker = Callable[[Domain], Source]


class ChannelTransformer:
    """Send each entry of categorical columns through a private channel.

    It follows the conventions of scikit-learn (``fit``, ``transform``, ``get_params``, ``clone``,
    pipelines, column transformers, ``set_output``) and does not need it.

    Each column has its own channel and spends its own budget: by composition, a row of d columns is
    private at d times epsilon. Every call of ``transform`` draws anew, and spends the budget anew.

    Parameters
    ----------
    mechanism
        A Channel or a Mechanism, for all columns; or a function that is given the
        :class:`~mechdesign.Domain` of a column, as ``lambda c: HadamardResponse(c, epsilon=1)``.
        Default: the best channel for the notion and the utility, designed when fitted.
    notion
        What must stay secret; default LDP at ``epsilon``.
    epsilon
        The budget of each column in nats.
    utility
        What must stay useful; default :class:`~mechdesign.L2Risk`, that is estimating frequencies,
        and beyond 24 categories Hadamard response.
    categories
        ``"auto"`` to take the values that ``fit`` sees, sorted; or a list of categories for each
        column. **Give them, where the data are private**: categories that are read from the data
        tell that they occur, which is a release of its own and not private. So would be a prior.
    prior
        For the design: None, or one :class:`~mechdesign.Prior` for all columns, or a list of them.
    unknown
        What to do with a value that is no category, as with a missing one: ``"refuse"``, or
        ``"map"`` it to the category ``other``. Either is as private.
    other
        The category for unknown values.
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
        Whether reports are drawn from a seed: not for release.
    n_features_in_, feature_names_in_
        How many columns were fitted; their names, where they have any.

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
        mechanism: Source | Maker | None = None,
        *,
        notion: Notion | None = None,
        epsilon: Any = None,
        utility: Utility | None = None,
        categories: Any = "auto",
        prior: Any = None,
        unknown: str = "refuse",
        other: Any = None,
        rng: Randomness = None,
    ) -> None:
        self.mechanism = mechanism
        self.notion = notion
        self.epsilon = epsilon
        self.utility = utility
        self.categories = categories
        self.prior = prior
        self.unknown = unknown
        self.other = other
        self.rng = rng

    def fit(self, X: Any, y: Any = None) -> ChannelTransformer:
        """Find the categories, unless they are given, and design the channels.

        Parameters
        ----------
        X
            ``(n_records, n_columns)``: an array, a pandas DataFrame, a list of rows; or one column.
        y
            Not looked at.

        Raises
        ------
        InputError
            If a parameter is wrong, or a column has fewer than two categories.
        """
        columns, names = columns_of(X)
        self._check_parameters()
        listed = self._categories(columns)
        made: dict[tuple[Hashable, Prior | None], Source] = {}
        mechanisms = []
        for domain, prior in zip(listed, self._priors(len(columns)), strict=True):
            key = (domain.labels, prior)
            if key not in made:
                made[key] = self._made(domain, prior)
            mechanisms.append(made[key])
        self.mechanisms_ = mechanisms
        self.categories_ = [np.array(list(m.inputs.labels), dtype=object) for m in mechanisms]
        self.simulated_ = self.rng is not None
        self.n_features_in_ = len(columns)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
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
            If an entry is unknown and that is refused, or the columns are not those of the fit.
        """
        self._check_fitted()
        columns, names = self._checked(X)
        stream = None if self.rng is None else np.random.default_rng(self.rng)
        drawn = []
        for j, (column, mechanism) in enumerate(zip(columns, self.mechanisms_, strict=True)):
            name = f"column {j}" if names is None else f"column {names[j]!r}"
            records = self._known(column, mechanism.inputs, name)
            drawn.append(mechanism.privatize(records, stream).labels())
        return self._delivered(drawn, X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and transform the same records."""
        return self.fit(X, y).transform(X)

    def estimate(self, Xt: Any, **how: Any) -> list[Estimate]:
        """Estimate how frequent each category was, from reports; one estimate for each column.

        Parameters
        ----------
        Xt
            What :meth:`transform` gave, or many of those below each other.
        how
            As for :func:`mechdesign.estimation.estimate`: ``method``, ``prior``, ``target``.

        Raises
        ------
        InputError
            If an entry is no report of its column.
        """
        self._check_fitted()
        columns, _ = self._checked(Xt)
        found = []
        for j, (column, mechanism) in enumerate(zip(columns, self.mechanisms_, strict=True)):
            data = mechanism.alphabet.encode(column, f"column {j}")
            reports = Reports(data, mechanism.alphabet, self.rng is not None)
            found.append(estimate(mechanism, reports, **how))
        return found

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of the columns, which stay as they are; x0, x1, ... without names."""
        self._check_fitted()
        own = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            given = np.array(list(input_features), dtype=object)
            if len(given) != self.n_features_in_:
                raise InputError("input_features", f"{self.n_features_in_} names", len(given))
            if own is not None and list(given) != list(own):
                raise InputError("input_features", f"{list(own)}", list(given))
            return given
        if own is not None:
            return np.array(own, dtype=object)
        return np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> ChannelTransformer:
        """Set parameters by name.

        Raises
        ------
        InputError
            If there is none of a name.
        """
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise InputError(name, ", ".join(known), "no parameter", did_you_mean(name, known))
            setattr(self, name, value)
        return self

    def set_output(self, *, transform: str | None = None) -> ChannelTransformer:
        """Choose what :meth:`transform` returns: ``"default"`` for arrays, or ``"pandas"``."""
        if transform is not None:
            if transform not in OUTPUTS:
                raise InputError("transform", "'default' or 'pandas'", shown(transform))
            # the name under which scikit-learn's clone looks for it
            self._sklearn_output_config = {"transform": transform}
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether it was fitted."""
        return hasattr(self, "mechanisms_")

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn asks: categories in, no labels needed, random reports out.

        Only scikit-learn calls this, so that its module is there.
        """
        utils = sys.modules["sklearn.utils"]
        return utils.Tags(
            estimator_type=None,
            target_tags=utils.TargetTags(required=False),
            transformer_tags=utils.TransformerTags(preserves_dtype=[]),
            input_tags=utils.InputTags(string=True, categorical=True),
            non_deterministic=True,
        )

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = self.get_params().items()
        changed = [f"{k}={v!r}" for k, v in given if v is not defaults[k].default]
        return f"ChannelTransformer({', '.join(changed)})"

    def _check_parameters(self) -> None:
        if self.unknown not in UNKNOWN:
            raise InputError("unknown", "'refuse' or 'map'", shown(self.unknown))
        source_of(self.rng)
        ways = {"mechanism": self.mechanism, "notion": self.notion, "epsilon": self.epsilon}
        given = [name for name, value in ways.items() if value is not None]
        if len(given) != 1:
            expected = "one of mechanism, notion and epsilon"
            raise InputError("epsilon", expected, " and ".join(given) or "none of them")

    def _categories(self, columns: list[list[Any]]) -> list[Domain]:
        """Return the domain of each column."""
        if isinstance(self.mechanism, Channel | Mechanism):
            return [self.mechanism.inputs] * len(columns)
        if isinstance(self.categories, str):
            if self.categories != "auto":
                raise InputError("categories", "'auto' or a list for each column", self.categories)
            domains = [Domain(sorted_values(column)) for column in columns]
        else:
            listed = list(self.categories)
            if len(listed) != len(columns):
                expected = f"{len(columns)} lists of categories, one for each column"
                raise InputError("categories", expected, len(listed))
            domains = [c if isinstance(c, Domain) else Domain(plain(c)) for c in listed]
        for j, domain in enumerate(domains):
            if len(domain) < 2:
                raise InputError(f"categories[{j}]", "at least two categories", repr(domain))
        return domains

    def _priors(self, count: int) -> list[Prior | None]:
        if self.prior is None or isinstance(self.prior, Prior):
            return [self.prior] * count
        priors = [p if p is None or isinstance(p, Prior) else Prior(p) for p in self.prior]
        if len(priors) != count:
            raise InputError("prior", f"{count}: one for each column", len(priors))
        return priors

    def _made(self, domain: Domain, prior: Prior | None) -> Source:
        """Return the channel for a domain."""
        if isinstance(self.mechanism, Channel | Mechanism):
            return self.mechanism
        if self.mechanism is not None:
            maker: Any = self.mechanism
            found = maker(domain) if callable(maker) else maker
            if not isinstance(found, Channel | Mechanism) or found.inputs != domain:
                expected = "a Channel or a Mechanism on the categories, or a function to one"
                raise InputError("mechanism", expected, shown(found))
            made: Source = found
            return made
        if self.notion is None and self.utility is None and len(domain) > MOST_DESIGNED:
            return HadamardResponse(domain, self.epsilon)
        notion = LDP(self.epsilon) if self.notion is None else self.notion
        utility = L2Risk() if self.utility is None else self.utility
        return design(Problem(domain, notion, utility, prior=prior)).channel

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise InputError("transformer", "a call of fit first", "none")

    def _checked(self, X: Any) -> tuple[list[list[Any]], list[Any] | None]:
        """Return the columns, which must be those that were fitted."""
        columns, names = columns_of(X)
        if len(columns) != self.n_features_in_:
            raise InputError("X", f"{self.n_features_in_} columns", len(columns))
        own = getattr(self, "feature_names_in_", None)
        if own is not None and names is not None and list(own) != names:
            raise InputError("X", f"the columns {list(own)}", f"{names}")
        return columns, names

    def _known(self, column: list[Any], domain: Domain, name: str) -> list[Any]:
        """Return the entries with unknown ones mapped, where that is wanted."""
        if self.unknown != "map":
            try:
                domain.codes(column, name)
            except InputError as error:
                hint = error.hint or 'unknown="map" sends others as the category other'
                raise InputError(error.key, error.expected, error.given, hint) from None
            return column
        domain.index(self.other, "other")
        known = set(domain.labels)
        return [v if isinstance(v, Hashable) and v in known else self.other for v in column]

    def _delivered(self, drawn: list[list[Any]], X: Any) -> Any:
        """Return columns of reports as an array, or as a DataFrame."""
        table = np.empty((len(drawn[0]), len(drawn)), dtype=object)
        for j, column in enumerate(drawn):
            for n, label in enumerate(column):
                table[n, j] = label
        if getattr(self, "_sklearn_output_config", {}).get("transform") != "pandas":
            return table
        pd = importlib.import_module("pandas")
        index = X.index if hasattr(X, "iloc") else None
        return pd.DataFrame(table, columns=self.get_feature_names_out(), index=index)
