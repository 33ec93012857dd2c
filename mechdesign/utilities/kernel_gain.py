"""Gains that the kernel states: their values in floating point follow from its form."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
import scipy.sparse as sp

from mechdesign._typing import FloatArray, IntArray
from mechdesign.domain import Domain, Label
from mechdesign.errors import CertificateError, InputError, UnsupportedError
from mechdesign.kernel.gains import Entropy, Gain, Squares
from mechdesign.kernel.names.domains import Inputs
from mechdesign.kernel.objectives import Loss
from mechdesign.prior import Prior
from mechdesign.tables import ExactTable
from mechdesign.utilities.column import ColumnUtility
from mechdesign.utilities.input_values import InputValues

DENSE = 4096
"""Entries of a matrix from which its zeros are left out."""


class KernelGain(ColumnUtility):
    """A gain that the kernel knows by name, with numbers of the inputs as arguments."""

    def __init__(self, **arguments: InputValues | ExactTable) -> None:
        self._arguments = arguments
        self._last: tuple[bytes, FloatGain] | None = None

    def on(self, domain: Domain) -> Self:
        """Return the gain with its numbers written out, in the order of the domain."""
        placed = {
            key: part.on(domain)
            if isinstance(part, InputValues)
            else part.for_inputs(domain.labels, key)
            for key, part in self._arguments.items()
        }
        if placed == self._arguments:
            return self
        found = copy.copy(self)
        found._arguments, found._last = placed, None
        return found

    def aligned(self, domain: Domain, outputs: Sequence[Label] | None) -> Self:
        """Return the gain with its labeled numbers in the order of the domain."""
        placed = self.on(domain)
        return placed if any(v.has_labels for v in self._arguments.values()) else self

    def to_table(self, domain: Domain) -> dict[str, Any]:
        """Return the ``[utility]`` table, with the numbers of all inputs."""
        arguments = self.on(domain)._arguments
        return {"objective": self.name, **{key: v.to_table() for key, v in arguments.items()}}

    def _floats(self, prior: FloatArray) -> FloatGain:
        """Return the gain at a prior in floats; that at the last prior is kept."""
        key = prior.tobytes()
        if self._last is None or self._last[0] != key:
            for name, part in self._arguments.items():
                if part.has_labels or not (isinstance(part, ExactTable) or part.is_aligned):
                    expected = "numbers in the order of the domain, as by on(domain)"
                    raise UnsupportedError(name, expected, "others")
            domain = Domain.range(len(prior))
            law = tuple(map(Fraction, prior.tolist()))
            try:
                aim: Any = self.words(domain).form(Inputs(domain.labels, prior=law))
            except CertificateError as error:
                expected = "a prior at which the gain is defined"
                raise InputError("prior", expected, str(error)) from None
            self._last = key, FloatGain(aim, law)
        return self._last[1]

    def gain(self, columns: FloatArray, prior: FloatArray) -> FloatArray:
        """Return the gain of each column."""
        return self._floats(prior).gain(columns)

    def coordinate_gain(self, x: IntArray, r: FloatArray, prior: FloatArray) -> Any:
        """Return the terms of a gain with a term for each input."""
        return self._floats(prior).terms(x, r)

    def offset(self, domain: Domain, prior: Prior) -> Fraction:
        """Return the loss without any report; 0 if the sum is maximized."""
        return cast(Gain, self.statement(domain, prior).objective).constant

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._arguments.values()))})"


@dataclass(frozen=True)
class FloatGain:
    """A gain, or the best guess of a loss with free outputs, of columns in floats."""

    aim: Gain | Loss
    prior: tuple[Fraction, ...]

    @cached_property
    def _vectors(self) -> Any:
        """The vectors of the form, ``(n_vectors, n_inputs)``: of guesses, those to maximize."""
        if isinstance(self.aim, Loss):
            costs, weights = self.aim.costs, np.array(self.aim.weights, dtype=np.float64)
            unit = costs.denominator  # may be beyond the floats, as the costs
            rows = [[-v / unit for v in costs.lower(y)] for y in range(costs.n_outputs)]
            found = np.array(rows) * weights
        else:
            found = np.array(self.aim.vectors, dtype=np.float64)
        return found if found.size <= DENSE else sp.csr_array(found)

    @cached_property
    def _law(self) -> FloatArray:
        return np.array(cast(Gain, self.aim).p, dtype=np.float64)

    @cached_property
    def _numbers(self) -> FloatArray:
        return np.array(cast(Gain, self.aim).numbers, dtype=np.float64)

    def gain(self, columns: FloatArray) -> FloatArray:
        """Return the gain of each column."""
        moments = self._vectors @ columns
        if isinstance(self.aim, Loss):
            return np.asarray(moments.max(axis=0))
        law = self._law @ columns
        with np.errstate(divide="ignore", invalid="ignore"):
            if isinstance(self.aim, Squares):
                squares = self._numbers @ moments**2
                return np.where(squares > 0, squares / law, 0.0)
            if isinstance(self.aim, Entropy):
                logs = np.log(moments / (self._numbers[:, None] * law))
                return np.asarray(np.where(moments > 0, moments * logs, 0.0).sum(axis=0))
        a, b = np.sqrt(moments)
        return np.asarray((a - b) ** 2 / 2)

    @cached_property
    def _entries(self) -> FloatArray | None:
        """The entry and the number of each input, if the vectors are multiples of unit vectors."""
        aim, k = self.aim, len(self.prior)
        if isinstance(aim, Gain) and aim.p == self.prior and len(aim.vectors) == k - aim.p.count(0):
            with suppress(CertificateError):
                return np.array([aim.entry(x) for x in range(k)], dtype=np.float64).T
        return None

    def terms(self, x: IntArray, r: FloatArray) -> Any:
        """Return the terms of inputs at entries of columns with P . q = 1; None without them."""
        if self._entries is None:
            return None
        v, number = self._entries[:, x]
        if isinstance(self.aim, Squares):
            return number * (v * r) ** 2
        return v * r * np.log(np.where(r > 0, r, 1.0) * np.where(v > 0, v / number, 1.0))
