"""The channel: an immutable, exact, row-stochastic matrix with labeled inputs and outputs."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mechdesign._typing import AnyArray, FloatArray, Int64Array
from mechdesign.domain import Domain, Label, clean_label, whole_number
from mechdesign.errors import InputError, shown, shown_kind
from mechdesign.kernel.documents import FORMAT, VERSION, digest
from mechdesign.labels import aligned, clean_labels, data_frame, places, plain_label, split_matrix
from mechdesign.matrices.stochastic import BITS, rounded_rows, whole_matrix
from mechdesign.prior import Prior, prior_on
from mechdesign.refinement.result import Refinement, refinement
from mechdesign.reports import Labels, ReportSource
from mechdesign.sampling import AliasTable, Source
from mechdesign.text import Matrix, Table, Tabular
from mechdesign.writing.atomic import write_atomically
from mechdesign.writing.text import spreadsheet_safe as safe_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BITS", "Channel", "as_channel"]

MOST_DECIMALS = 1074
"""The largest number of decimals of a double."""


class Channel(ReportSource, Tabular):
    """A channel Q(y|x), stored as integers over a power of two.

    The integers *are* the mechanism: privacy is checked on them, and samplers draw from them.
    Entry ``(x, y)`` is ``numerators[x, y] / 2**bits``, and each row sums to 1 exactly.

    Parameters
    ----------
    numerators
        ``(n_inputs, n_outputs)`` integers >= 0 whose rows sum to ``2**bits``.
    inputs
        A :class:`Domain`, or its labels; default ``0..n_inputs-1``.
    outputs
        Labels of the outputs, all different; default ``0..n_outputs-1``.
    bits
        62, or the sum of the bits of two channels for their product.

    Raises
    ------
    InputError
        If the integers are not such a matrix, or the labels do not fit.

    Examples
    --------
    >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["yes", "no"])
    >>> warner
    Channel(2 inputs, 2 outputs, exact over 2**62)
              0       1
    yes  0.7500  0.2500
    no   0.2500  0.7500
    """

    __slots__ = (
        "_alphabet",
        "_bits",
        "_digest",
        "_hash",
        "_inputs",
        "_numerators",
        "_outputs",
        "_sampler",
    )

    def __init__(
        self,
        numerators: Any,
        *,
        inputs: Domain | Iterable[Any] | None = None,
        outputs: Iterable[Any] | None = None,
        bits: int = BITS,
    ) -> None:
        if type(bits) is not int or bits < 1:
            raise InputError("bits", "a whole number >= 1", shown(bits))
        table = whole_matrix(numerators, bits)
        self._bits, self._numerators = bits, table
        self._inputs = _inputs(inputs, len(table))
        self._outputs = _outputs(outputs, table.shape[1])
        # computed on first use
        self._hash: int | None = None
        self._digest: str | None = None
        self._alphabet: Labels | None = None
        self._sampler: AliasTable | None = None

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        inputs: Domain | Iterable[Any] | None = None,
        outputs: Iterable[Any] | None = None,
    ) -> Channel:
        """Round a matrix of probabilities to the nearest exact channel.

        Parameters
        ----------
        matrix
            ``(n_inputs, n_outputs)`` numbers, or exact text such as ``"1/3"``. A float stands for
            the decimal that it prints as; rows sum to 1 within 1e-9. A DataFrame or a dict of dicts
            counts by label: its rows are the inputs, its columns the outputs.
        inputs, outputs
            Labels, as for the class; default those of the matrix, if it has any.

        Raises
        ------
        InputError
            If an entry is negative or not finite, a row does not sum to 1, or the labels of the
            matrix are not those of the inputs and outputs.
        """
        listed, row_labels, column_labels = split_matrix(
            matrix, "matrix", "a matrix: a list of rows", "a list of probabilities"
        )
        if not listed or not listed[0]:
            raise InputError("matrix", "rows of numbers", "none", fault="the matrix is empty")
        if row_labels is not None:
            inputs = Domain.of(row_labels if inputs is None else inputs, "inputs")
            listed = aligned(listed, row_labels, inputs.labels, "matrix, rows")
        if column_labels is not None:
            outputs = column_labels if outputs is None else _outputs(outputs, len(column_labels))
            order = places(column_labels, outputs, "matrix, columns", "output")
            listed = [[row[y] for y in order] for row in listed]
        return cls(rounded_rows(listed), inputs=inputs, outputs=outputs)

    @property
    def bits(self) -> int:
        """The binary exponent of the denominator."""
        return self._bits

    @property
    def inputs(self) -> Domain:
        """The inputs, one for each row."""
        return self._inputs

    @property
    def outputs(self) -> tuple[Label, ...]:
        """The labels of the outputs, one for each column."""
        return self._outputs

    @property
    def numerators(self) -> AnyArray:
        """The integers, read-only, shape ``(n_inputs, n_outputs)``; objects above 62 bits."""
        return self._numerators

    @property
    def denominator(self) -> int:
        """The denominator of all entries: ``2**bits``."""
        return 1 << self.bits

    @property
    def matrix(self) -> FloatArray:
        """The probabilities as float64, shape ``(n_inputs, n_outputs)``."""
        if self.bits <= BITS:
            return np.ldexp(self._numerators.astype(np.float64), -self.bits)
        rows = self._numerators.tolist()
        return np.array([[entry / self.denominator for entry in row] for row in rows])

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_inputs, n_outputs)``."""
        return len(self.inputs), len(self.outputs)

    def probability(self, x: Any, y: Any) -> Fraction:
        """Return the exact probability of the output label ``y`` at the input label ``x``."""
        column = self._output_index(y)
        return Fraction(int(self._numerators[self.inputs.index(x, "x"), column]), self.denominator)

    def columns(self) -> list[list[int]]:
        """Return the exact columns as lists of integers, one list for each output."""
        columns: list[list[int]] = self._numerators.T.tolist()
        return columns

    @property
    def alphabet(self) -> Labels:
        """The reports that it may send: its outputs."""
        if self._alphabet is None:
            self._alphabet = Labels(Domain(self._outputs))
        return self._alphabet

    def draw(self, codes: Int64Array, source: Source) -> Int64Array:
        """Return one output number for each input number, with exactly the table's chances."""
        if self._sampler is None:
            self._sampler = AliasTable(self._numerators, self.bits)
        return self._sampler.draw(codes, source)

    def document(self) -> dict[str, Any]:
        """Return the fields of a saved channel that make no claim."""
        document: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        document["problem"] = {"domain": self.inputs.to_table()}
        document["channel"] = {**self.to_table(), **self.integers()}
        document["digest"] = digest(document)
        return document

    def to_table(self) -> dict[str, Any]:
        """Return the labels and the probabilities as floats, for JSON."""
        return {
            "inputs": [plain_label(x) for x in self.inputs],
            "outputs": [plain_label(y) for y in self.outputs],
            "matrix": self.matrix.tolist(),
        }

    def integers(self) -> dict[str, Any]:
        """Return the integers as text, since many readers of JSON keep 53 bits only."""
        rows = self.numerators.tolist()
        return {"bits": self.bits, "numerators": [list(map(str, row)) for row in rows]}

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the integers and the labels, in hexadecimal.

        Reports and tallies carry it, so that another channel does not read them.
        """
        if self._digest is None:
            self._digest = self.document()["digest"].removeprefix("sha256:")
        return self._digest

    def output_distribution(self, prior: Prior) -> tuple[Fraction, ...]:
        """Return the exact law of the output, one probability for each output.

        Examples
        --------
        >>> warner = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> warner.output_distribution(Prior([1, 0]))
        (Fraction(3, 4), Fraction(1, 4))
        """
        prior = prior_on(prior, self.inputs)
        return tuple(prior.mean(column) / self.denominator for column in self.columns())

    def posterior(self, prior: Prior) -> FloatArray:
        """Return P(x|y), shape ``(n_inputs, n_outputs)``; nan where y never occurs."""
        prior = prior_on(prior, self.inputs)
        joint = prior.array[:, None] * self.matrix
        total = joint.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(total > 0, joint / total, np.nan)

    def then(self, other: Channel) -> Channel:
        """Post-process the output by another channel: the exact product of the two matrices.

        Nothing is rounded (the bits of the two add up), so no leakage increases.

        Parameters
        ----------
        other
            A channel whose inputs are the outputs of this one, in the same order.

        Examples
        --------
        >>> coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> coin.then(coin).probability(0, 0)
        Fraction(5, 8)
        """
        if as_channel(other, "other").inputs.labels != self.outputs:
            expected = f"a channel on the outputs {self.outputs!r}"
            raise InputError("other", expected, f"one on {other.inputs.labels!r}")
        product = self._numerators.astype(object) @ other._numerators.astype(object)
        bits = self.bits + other.bits
        return Channel(product, inputs=self.inputs, outputs=other.outputs, bits=bits)

    def refines(self, other: Channel) -> Refinement:
        """Decide whether the other channel is this one with its output post-processed, exactly.

        If so, this channel is at least as informative in the Blackwell order: in every decision
        problem its best expected gain is at least the other's. If not, some decision problem has a
        larger gain with the other channel.

        Parameters
        ----------
        other
            A channel on the same inputs.

        Returns
        -------
        Refinement
            True in a condition if ``other`` is this channel times a row-stochastic ``matrix``;
            else with a decision problem that separates the two. Both are rational and exact.

        Raises
        ------
        InputError
            If the inputs are not the same.
        LimitError
            If the channels are too large: outputs times outputs, about 50,000.

        Notes
        -----
        Source: Blackwell 1951, Sherman 1951, Stein 1951. The comparison has no tolerance: entries
        that were equal before rounding to 2**-62 may differ by that much. The ``deficiency`` is
        then about 1e-18.

        Examples
        --------
        >>> coin = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> coin.refines(coin.then(coin))
        Refinement(yes): the second channel is the first times W, exactly; W =
                0       1
        0  0.7500  0.2500
        1  0.2500  0.7500
        >>> coin.then(coin).refines(coin)
        Refinement(no): a decision is worth more with the second channel
          best with the first   0.625
          with the second       0.75
          deficiency            0.125 to 0.125
          prior                 0.5, 0.5
          gain of each action at each input:
                0       1
        0  1.0000       0
        1       0  1.0000
        """
        rows = as_channel(other, "other").rows()
        if set(other.inputs.labels) != set(self.inputs.labels):
            raise InputError("other", f"a channel on {self.inputs!r}", f"one on {other.inputs!r}")
        order = places(other.inputs.labels, self.inputs.labels, "other")
        labels = self.inputs.labels, self.outputs, other.outputs
        return refinement(self.rows(), [rows[x] for x in order], *labels)

    def rows(self) -> list[list[Fraction]]:
        """Return the exact probabilities, one row for each input."""
        whole = self.denominator
        return [[Fraction(entry, whole) for entry in row] for row in self._numerators.tolist()]

    def merge(self, names: Mapping[Any, Any]) -> Channel:
        """Rename outputs and merge those that get the same name; exact, with the same bits.

        Parameters
        ----------
        names
            New labels by old label; other outputs keep their labels.

        Examples
        --------
        >>> Channel.from_matrix([["1/2", "1/4", "1/4"]]).merge({1: "rest", 2: "rest"}).outputs
        (0, 'rest')
        """
        if not isinstance(names, Mapping):
            raise InputError("names", "a dict from old labels to new ones", shown_kind(names))
        renamed = {self._output_index(old): clean_label(new, "names") for old, new in names.items()}
        labels = [renamed.get(y, label) for y, label in enumerate(self.outputs)]
        kept = list(dict.fromkeys(labels))
        merged = np.zeros((len(self.inputs), len(kept)), dtype=self._numerators.dtype)
        for y, label in enumerate(labels):
            merged[:, kept.index(label)] += self._numerators[:, y]
        return Channel(merged, inputs=self.inputs, outputs=kept, bits=self.bits)

    def _output_index(self, label: Any) -> int:
        wanted = clean_label(label, "y")
        if wanted not in self.outputs:
            raise InputError("y", f"one of the outputs {self.outputs!r}", shown(label))
        return self.outputs.index(wanted)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Channel):
            return NotImplemented
        return (
            self.inputs == other.inputs
            and self.outputs == other.outputs
            and self.bits == other.bits
            and bool(np.array_equal(self._numerators, other._numerators))
        )

    def __hash__(self) -> int:
        if self._hash is None:
            table = self._numerators
            entries = tuple(table.flat) if table.dtype == object else table.tobytes()
            self._hash = hash((self.inputs, self.outputs, self.bits, entries))
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by reconstruction, which checks the entries and makes them read-only."""
        again = partial(Channel, inputs=self._inputs, outputs=self._outputs, bits=self._bits)
        return again, (self._numerators,)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> AnyArray:
        """Return the probabilities, so that NumPy takes a channel for its matrix."""
        if copy is False:
            raise ValueError("the probabilities are computed from the integers: a copy is needed")
        return np.asarray(self.matrix, dtype=dtype)

    def to_frame(self) -> pd.DataFrame:
        """Return the probabilities as a pandas DataFrame, a row for each input.

        Raises
        ------
        UnsupportedError
            If pandas is not installed.
        """
        return data_frame(self.matrix, self.inputs.labels, self.outputs)

    def to_csv(self, path: str | os.PathLike[str], *, spreadsheet_safe: bool = False) -> None:
        """Write the probabilities as floats to a CSV file, with a row and a column of labels.

        The file is written atomically. :func:`mechdesign.save` keeps the exact integers.

        Parameters
        ----------
        path
            The file.
        spreadsheet_safe
            Whether to put an apostrophe before labels that a spreadsheet would evaluate.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        rows, text = zip(self.inputs, self.matrix.tolist(), strict=True), io.StringIO(newline="")
        writer = csv.writer(text)
        cell = safe_text if spreadsheet_safe else str
        writer.writerow(["", *(cell(str(label)) for label in self.outputs)])
        writer.writerows([cell(str(label)), *row] for label, row in rows)
        write_atomically(Path(path), text.getvalue())

    def to_latex(self, digits: int = 4) -> str:
        r"""Return the probabilities as a LaTeX table.

        Parameters
        ----------
        digits
            Decimals of each probability.

        Examples
        --------
        >>> print(Channel.from_matrix([[1, 0]], inputs=["50% & more"]).to_latex(2))
        \begin{tabular}{lrr}
         & 0 & 1 \\
        \hline
        50\% \& more & 1.00 & 0.00 \\
        \end{tabular}
        """
        digits = whole_number(digits, "digits", 0, MOST_DECIMALS)
        rows = [
            [str(label), *(f"{entry:.{digits}f}" for entry in row)]
            for label, row in zip(self.inputs, self.matrix.tolist(), strict=True)
        ]
        head = ["", *map(str, self.outputs)]
        return Table(head, rows, "<" + ">" * len(self.outputs)).latex()

    def _table(self) -> Matrix:
        return Matrix(self.matrix, self.inputs.labels, self.outputs)

    def _head(self) -> str:
        n_inputs, n_outputs = self.shape
        return (
            f"Channel({n_inputs} input{'s' * (n_inputs > 1)}, "
            f"{n_outputs} output{'s' * (n_outputs > 1)}, exact over 2**{self.bits})"
        )


def as_channel(given: Any, key: str = "channel") -> Channel:
    """Return a channel unchanged, or raise InputError."""
    if not isinstance(given, Channel):
        ways = (name for name in ("channel", "dense", "nodes") if hasattr(given, name))
        way = next(ways, "")
        call = "()" * (way == "dense")
        hint = f"pass its .{way}{call}" if way else "Channel.from_matrix makes one of probabilities"
        raise InputError(key, "a Channel", shown_kind(given), hint)
    return given


def _inputs(inputs: Domain | Iterable[Any] | None, size: int) -> Domain:
    if inputs is None:
        return Domain.range(size)
    domain = Domain.of(inputs, "inputs")
    if len(domain) != size:
        raise InputError("inputs", f"{size} labels, one for each row", f"{len(domain)} labels")
    return domain


def _outputs(outputs: Iterable[Any] | None, size: int) -> tuple[Label, ...]:
    labels = clean_labels(range(size) if outputs is None else outputs, "outputs")
    if len(labels) != size:
        raise InputError("outputs", f"{size} labels, one for each column", f"{len(labels)} labels")
    return labels
